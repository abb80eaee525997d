// Groups: the communicators of a run as lists of ranks in MPI_COMM_WORLD, which is the only communicator that SMPI's
// replay knows; and Tags: numbers that stand for a communicator and a tag together, so that messages of different
// communicators never meet.
//
// Memory for the members of each communicator. Groups: const after construction, any thread. Tags: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyze/communicators.h"
#include "base/result.h"
#include "trace/read/trace.h"

namespace cairn::simgrid {

/// A communicator as one of its members sees it.
struct View {
  uint32_t number = 0;
  uint32_t place = 0;                            ///< the member's rank in its own group
  const std::vector<uint32_t> *own = nullptr;    ///< ranks in MPI_COMM_WORLD, by ranks here
  const std::vector<uint32_t> *other = nullptr;  ///< of an intercommunicator
  bool whole_world = false;                      ///< all ranks, in the order of MPI_COMM_WORLD
  /// Whom that rank in an argument means; nullopt: nobody of this run.
  [[nodiscard]] std::optional<uint32_t> in_world(int64_t rank) const {
    const std::vector<uint32_t> &all = other != nullptr ? *other : *own;
    if (rank < 0 || static_cast<uint64_t>(rank) >= all.size()) return std::nullopt;
    return all[static_cast<size_t>(rank)];
  }
};

class Groups {
 public:
  static constexpr uint32_t kSelf = 0;
  static constexpr uint32_t kWorld = 1;

  /// Fails where the trace cannot tell its communicators.
  static Result<Groups> of(const trace::Trace &trace, const analyze::Sources &sources);

  /// The communicator with that name, as `rank` sees it; nullopt: there is none, or the trace does not know who is in
  /// it.
  [[nodiscard]] std::optional<View> view(const std::string &name, uint32_t rank) const;
  /// Its MPI_COMM_WORLD: that of the first job is kWorld.
  [[nodiscard]] View world(uint32_t rank) const;
  [[nodiscard]] View self(uint32_t rank) const { return {kSelf, 0, &alone_[rank], nullptr, false}; }
  [[nodiscard]] size_t count() const { return members_.size(); }
  /// Of each of these: the ranks in MPI_COMM_WORLD by ranks there, of an intercommunicator of both groups; of kSelf
  /// none.
  [[nodiscard]] const std::array<std::vector<uint32_t>, 2> &members(uint32_t number) const { return members_[number]; }
  /// All but kSelf and kWorld, by their names.
  [[nodiscard]] const std::map<std::string, uint32_t, std::less<>> &numbers() const { return numbers_; }
  [[nodiscard]] const analyze::DistGraphs &graphs() const { return graphs_; }

 private:
  std::vector<std::vector<uint32_t>> alone_;                   ///< by rank
  std::vector<std::array<std::vector<uint32_t>, 2>> members_;  ///< by number
  std::map<std::string, uint32_t, std::less<>> numbers_;       ///< of those whose members are known
  std::vector<uint32_t> job_begins_;                           ///< rank 0 of each job
  uint32_t rank_count_ = 0;
  analyze::DistGraphs graphs_;
};

/// Tags of MPI_COMM_WORLD below 2^30 stay what they are. Others are of a block of 2^20 for each communicator, or, where
/// communicators or tags are too many or too large, numbered as they come: memory for each of these. What has no tag of
/// the program is negative, so that no receive under any tag hears it, and below what SMPI's own operations use.
class Tags {
 public:
  /// What the program's messages have; what collective calls become that are made of messages; what partitioned
  /// messages have, which match in their own order.
  enum class Of : uint8_t { messages, collectives, partitions };
  int32_t of(uint32_t communicator, int64_t tag, Of of = Of::messages);

 private:
  std::map<std::pair<std::pair<uint32_t, Of>, int64_t>, int32_t> numbered_;
};

}  // namespace cairn::simgrid
