// RankCalls: what each call of one rank is, with what the names in it mean by then: how large datatypes are, and which
// communicators.
//
// Fed with all calls of the rank in their order. Borrows what it is made with. One thread. Memory for the distinct
// calls of a rank, as trace::Events has it, and for names.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/communicator_names.h"
#include "analyze/row_access.h"
#include "analyze/sizes.h"
#include "simgrid/calls.h"
#include "simgrid/groups.h"
#include "trace/read/events.h"

namespace cairn::simgrid {

class RankCalls {
 public:
  /// `scopes`: by class.
  RankCalls(const trace::Trace &trace, const Groups &groups, const std::vector<analyze::RowScope> &scopes,
            uint32_t rank);
  /// The rank's next call. Valid until the next call of this.
  const SimulatedCall &see(const trace::Event &event);
  /// The communicator that it made; nullptr: none.
  [[nodiscard]] const analyze::NewCommunicator *made() const { return made_; }
  [[nodiscard]] const Groups &groups() const { return groups_; }
  /// What the communicator is called; nullptr: a constant, or not known.
  [[nodiscard]] const std::string *name_of(const analyze::HandleName &communicator) const;
  /// nullopt: not known.
  std::optional<View> view_of(const std::optional<analyze::HandleName> &communicator);

 private:
  const Groups &groups_;
  const std::vector<analyze::RowScope> &scopes_;
  uint32_t rank_;
  analyze::Sizes sizes_;
  analyze::CommunicatorNames names_;
  const analyze::NewCommunicator *made_ = nullptr;
  uint64_t names_version_ = 0;
  std::map<int64_t, std::optional<View>> views_;  ///< as long as names stay
  /// By their numbers in the sequence of a thread.
  struct Known {
    uint32_t class_index = UINT32_MAX;
    uint32_t segment = UINT32_MAX;
    std::vector<std::unique_ptr<SimulatedCall>> calls;
  };
  std::map<uint32_t, Known> known_;  ///< by thread
};

}  // namespace cairn::simgrid
