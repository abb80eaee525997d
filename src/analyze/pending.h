// Pending calls: what each thread of a run that did not complete was in when its recording ended, and since when; or
// which call it had ended last. Threads that say the same are told together.
//
// A recorder keeps the calls that a killed process was in as a segment of their own (src/mpi/store/pending.h), and what
// was under way at an exit or MPI_Abort as last calls that did not return. A process that ended itself in no call has
// none of these. Looks at the ends of sequences alone: cost
// in proportion to the ranks that did not complete; and where calls wait for requests, at all calls of these ranks, to
// find those that made them (request_makers.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/decode.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

/// Threads of some ranks that wait in the same call, or have ended the same one.
struct PendingCall {
  std::vector<uint32_t> ranks;
  uint32_t thread = 0;
  bool several_threads = false;  ///< of these ranks
  bool inside = true;            ///< in the call; else it was the last to end
  bool ended = false;            ///< not inside, and the process ended itself there
  std::string function;
  /// What it waits for, as far as its arguments say: "from 1 tag 7 on MPI_COMM_WORLD"; of requests as far as the calls
  /// that made them say: "for MPI_Irecv from 1 tag 7 on MPI_COMM_WORLD (halo.c:10)".
  std::string about;
  bool differs = false;  ///< what it waits for is not the same for all of them, and is left out
  std::string within;    ///< the function that it was called in, through a callback; else empty
  Call call;             ///< of the first rank; without arguments unless `inside`
  Position position;     ///< empty if it is not known
  /// For how long: the least and the most of the ranks. Nothing where only that it began is known.
  struct Range {
    uint64_t least_ns = 0;
    uint64_t most_ns = 0;
  };
  std::optional<Range> since;
};

/// By rank and thread. Nothing of ranks that completed.
std::vector<PendingCall> pending_calls(const trace::Trace &trace, const Sources &sources);
/// Which of the ranks that did not complete had called MPI_Finalize.
std::vector<uint32_t> in_finalize(const trace::Trace &trace);
/// If they are more than `most`: those of the same call at the same place together, whatever they wait for.
std::vector<PendingCall> gathered(std::vector<PendingCall> calls, size_t most);

}  // namespace cairn::analyze
