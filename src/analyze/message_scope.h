// MessageScope: what following messages needs to know of a run: its communicators by numbers, who is in them, and which
// ranks lack calls. The same in each replay (messages.h). Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyze/communicators.h"
#include "analyze/groups.h"
#include "analyze/row_access.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

/// A communicator, by its number here.
constexpr uint32_t kSelfNumber = 0;
constexpr uint32_t kFirstWorld = 1;  ///< MPI_COMM_WORLD of the first job; those of the others follow

/// What all ranks need to know of the run: the same in each replay.
struct MessageScope {
  const trace::Trace *trace;
  Communicators communicators;
  std::vector<const Communicator *> by_number;  ///< of kSelfNumber: nullptr
  std::map<std::string, uint32_t, std::less<>> numbers;
  /// Ranks in each, by rank in MPI_COMM_WORLD; none: meets nobody. Of an intercommunicator those of the second group
  /// count on behind those of the first.
  std::vector<std::map<uint32_t, uint32_t>> places;
  std::vector<uint32_t> first_groups;    ///< of each intercommunicator, how many are in its first group; else 0
  std::vector<Groups::Members> members;  ///< the other way round; nullptr: of an intercommunicator, or none
  std::vector<RowScope> scopes;          ///< by class
  std::set<uint32_t> lossy;              ///< ranks of which calls are missing
  size_t most_known = 0;                 ///< calls of a thread that are remembered
  /// Its number of MPI_COMM_WORLD.
  [[nodiscard]] uint32_t world_of(uint32_t rank) const { return kFirstWorld + trace->job_of(rank).number; }
};

}  // namespace cairn::analyze
