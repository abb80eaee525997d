// Agreement: whether the members of a communicator make their collective calls alike (MPI 4.1, chapter 6): the same
// operation, all of them blocking or none, with one root and one operator, and what one sends is what others expect, by
// the types of elements and how many they are.
//
// Fed with meetings (analyze/messages.h) whose contents are of contents.h. Of a communicator whose members have once
// made different calls nothing more is said: what follows is no news. Borrows the findings. One thread. Memory for the
// combinations of contents that were looked at, at most kMost of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "analyze/messages.h"
#include "check/contents.h"
#include "check/findings.h"

namespace cairn::check {

class Agreement {
 public:
  static constexpr size_t kMost = size_t{1} << 18;
  /// `name`: of a communicator's number. `complete`: the rank in MPI_COMM_WORLD reached the end of MPI_Finalize.
  using Name = std::function<std::string(uint32_t)>;
  using Complete = std::function<bool(uint32_t)>;
  Agreement(const Kinds &kinds, Findings *findings, Name name, Complete complete)
      : kinds_(kinds), findings_(*findings), name_(std::move(name)), complete_(std::move(complete)) {}

  /// A member's call failed: nothing more is said of that communicator.
  void give_up(uint32_t communicator) { broken_.insert(communicator); }
  [[nodiscard]] bool gave_up(uint32_t communicator) const { return broken_.count(communicator) != 0; }
  /// Nobody leaves it any more. `members`: by rank in the communicator, their ranks in MPI_COMM_WORLD. `first_group`:
  /// of two groups the number of members of the first, behind which those of the second follow; else 0.
  void over(const analyze::Meeting &meeting, const std::vector<uint32_t> &members, size_t first_group);

 private:
  static std::vector<uint32_t> who_came(const analyze::Meeting &meeting);
  using Members = std::vector<uint32_t>;
  void look_at(const analyze::Meeting &meeting, std::string_view operation);
  // Between two groups (agreement_between.cc).
  void look_at_groups(const analyze::Meeting &meeting, size_t first_group, std::string_view operation);
  void data_between(const analyze::Meeting &meeting, size_t first_group, std::optional<size_t> root,
                    std::string_view operation);
  bool data_of_root(const analyze::Meeting &meeting, size_t root, size_t other, size_t number,
                    std::string_view operation);
  void missing(const analyze::Meeting &meeting, const Members &members);
  void operations(const analyze::Meeting &meeting);
  void data(const analyze::Meeting &meeting, std::string_view operation);
  /// What rank `from` sends to rank `to` of the communicator, and what that expects.
  bool pair(const analyze::Meeting &meeting, size_t from, const Content::Part &sent, size_t to,
            const Content::Part &expected);

  const Kinds &kinds_;
  Findings &findings_;
  Name name_;
  Complete complete_;
  std::set<uint32_t> broken_;                  ///< communicators
  std::unordered_set<std::string> looked_at_;  ///< operations with contents
};

}  // namespace cairn::check
