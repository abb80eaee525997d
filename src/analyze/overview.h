// Overview: what `cairn info` says of a trace: the run, its ranks, what was called and what the file is made of.
// Computed from the compressed form; cost in proportion to the distinct calls and ranks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyze/outcome.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

struct Overview {
  trace::RunInfo run;
  std::vector<std::string> hosts;
  uint64_t ranks = 0;          ///< present in the trace
  uint64_t world = 0;          ///< size of MPI_COMM_WORLD
  uint64_t threads = 0;        ///< (rank, thread) pairs that called MPI
  uint64_t calls = 0;          ///< over all ranks
  uint64_t functions = 0;      ///< distinct
  bool spawns = false;         ///< some rank calls MPI_Comm_spawn or MPI_Comm_spawn_multiple
  uint64_t signatures = 0;     ///< distinct rows, over classes
  uint64_t classes = 0;        ///< ranks and threads of equal structure
  uint64_t communicators = 0;  ///< distinct ones created, and the predefined ones used
  uint64_t peak_memory = 0;    ///< the recorder's, of the rank that needed most
  struct Degraded {
    std::vector<uint32_t> ranks;
    uint64_t count = 0;    ///< of all of them; 0: not counted
    bool missing = false;  ///< calls, or arguments of calls, are not in the trace
    bool asked = false;    ///< calls are left out on request
  };
  /// By their reasons.
  std::map<std::string, Degraded> degraded;
  std::vector<uint32_t> incomplete;  ///< ranks that did not reach MPI_Finalize
  /// Calls that failed, by function.
  std::map<uint32_t, Failures> failures;
  std::map<std::string, uint64_t> bytes;
};

Overview overview(const trace::Trace &trace);
/// The same without `communicators` and `failures`: those are found by looking at all calls that name one, or may have
/// failed, whose fields may have to be put together.
Overview outline(const trace::Trace &trace);

}  // namespace cairn::analyze
