// Compares the clocks of a job's processes, so that their times can be told on one axis: rank 0's.
//
// Down a binomial tree, each process asks the one above it (its rank without the lowest bit that is set) and then
// answers those below. Two processes that run on one kernel and in one time namespace have the same CLOCK_MONOTONIC:
// they exchange one message each way and no time. Others exchange times; the exchange with the least round trip gives
// the offset, wrong by at most half that trip, and what the one above knows is added. So a job on one host takes one
// message each way a rank, and another a few more; in all, as long as the root takes for log2(ranks) processes.
//
// Collective over the recorder's communicator. Source of the method: the offsets measured at begin and end of Scalasca
// and Vampir traces, with the tree of the merge; see Becker, Rabenseifner, Wolf, "Implications of non-constant clock
// drifts for the timestamps of concurrent events" (Cluster 2008), for what the linear map leaves.
#pragma once

#include <cstdint>

#include "mpi/call/mpi_calls.h"
#include "mpi/store/process.h"

namespace cairn::recorder {

/// What rank 0 says of itself to all.
struct RootWord {
  uint64_t job = 0;            ///< Run::job
  int64_t unix_offset_ns = 0;  ///< CommonClock::unix_offset_ns
};

/// False if a message failed; then nothing is known here, nor below.
bool compare_clocks(const Run &run, mpi::Handle comm, RootWord *root, ClockPoint *point);

}  // namespace cairn::recorder
