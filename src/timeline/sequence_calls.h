// SequenceCalls: the calls of one sequence of one rank, each with its place on an axis, in order from any of them on.
// Where they have times: timed_calls.h; else made_calls.h. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"

namespace cairn::timeline {

class SequenceCalls {
 public:
  struct Call {
    uint64_t index = 0;  ///< in the sequence
    uint32_t row = 0;    ///< of the class
    uint32_t depth = 0;  ///< Row::depth
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;  ///< no less
  };

  virtual ~SequenceCalls() = default;
  /// The next one; nothing at the end of those that have a place. Fails where times are damaged.
  virtual Result<std::optional<Call>> next() = 0;
  /// `next` gives the call of that index.
  virtual void seek(uint64_t index) = 0;
  /// How many there are, with those that have no place.
  virtual uint64_t count() = 0;
  /// A call that none before it ends at `ns` or later, not far from the first that does.
  [[nodiscard]] virtual uint64_t near(uint64_t ns) = 0;
};

}  // namespace cairn::timeline
