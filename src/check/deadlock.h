// Deadlock: ranks that can never go on, each waiting for something that only others of them could do: the graph of who
// waits for whom at the end of a trace, of calls that wait for all of some things, or for one of them (the AND-OR model
// of W. Haque, "Concurrent deadlock detection in parallel programs", 2006; T. Hilbrich et al., "MPI runtime error
// detection with MUST", 2013). Whatever may yet happen by what the trace has is taken to happen, so what is told is
// sure, for calls that MPI does not let end without the others.
//
// Plain values; one thread. Cost: threads times what they wait for, times the length of the longest chain.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyze/messages.h"
#include "check/findings.h"

namespace cairn::check {

/// A thread of a rank that waits. Without one a thread goes on.
struct Waiter {
  uint32_t rank = 0;
  uint32_t thread = 0;
  analyze::CallTime call;
  bool ended = false;  ///< in MPI_Finalize, or behind it: does nothing for others any more
  /// Each waits for one of some ranks to do something. Of these all are needed, or (`any`) one.
  std::vector<std::vector<uint32_t>> needs;
  bool any = false;
};

/// Who waits for whom in vain: each of the chain for the next, the last for the first, unless it has ended.
struct Deadlock {
  std::vector<size_t> chain;     ///< places among the waiters
  std::vector<uint32_t> others;  ///< ranks that wait for those of the chain, or for others that do, ascending
};

/// `threads`: how many of each rank there are, by rank. Of ranks that wait for those of a chain nothing more is told.
std::vector<Deadlock> find_deadlocks(const std::vector<Waiter> &waiters, const std::map<uint32_t, size_t> &threads);
/// Adds it to the findings.
void tell(const Deadlock &deadlock, const std::vector<Waiter> &waiters, Findings *findings);

}  // namespace cairn::check
