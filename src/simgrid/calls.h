// SimulatedCall: what one call of a rank becomes in SMPI's replay, before its ranks are translated.
//
// Plain values; `simulated_call` costs a look at the row's fields.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "analyze/collective.h"
#include "analyze/message_calls.h"
#include "analyze/sizes.h"

namespace cairn::simgrid {

using analyze::Collective;

struct SimulatedCall {
  std::unique_ptr<analyze::MessageCall> messages;
  std::unique_ptr<Collective> collective;
  std::optional<uint64_t> sent;  ///< bytes; nullopt: not known
  std::optional<uint64_t> room;  ///< of the receive, in bytes
  bool buffered = false;         ///< the send waits for nobody
  bool unfinished = false;       ///< it never returned, and becomes nothing
  bool waits = false;            ///< time in it is spent waiting, or on what is left out: no computing of this rank
};

SimulatedCall simulated_call(const trace::Row &row, const analyze::RowScope &scope, const analyze::Sizes &sizes);

}  // namespace cairn::simgrid
