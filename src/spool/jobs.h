// Jobs: which of the parts in a spool are of one run of MPI_Init to MPI_Finalize.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "spool/contents.h"
#include "trace/read/trace.h"

namespace cairn::spool {

struct Job {
  std::vector<const PartFile *> parts;  ///< by rank
  /// None of its processes had made a call when they were killed.
  [[nodiscard]] bool no_calls() const;
};
/// Those that say that they are of one job; where they could not know, of the same command and size, with disjoint
/// ranks, begun within a minute.
std::vector<Job> jobs_of(const std::vector<PartFile> &parts);

/// Whether the part, or the epilogue, is of the run that this trace is of.
bool is_of(const PartFile &part, const trace::Trace &trace);

/// A run of which a finished trace lies in the spool, or parts.
struct Run {
  int64_t start_unix_ns = 0;
  std::string trace;  ///< empty: there are parts
  Job job;
  /// Of processes that never initialised MPI.
  [[nodiscard]] bool is_aside() const;
};
/// In the order in which they began, so that of spawned jobs the parents come first; those aside at the end. Parts of a
/// run of which there is a trace are left out: their processes were killed when it was written already, and before they
/// could know.
std::vector<Run> runs_of(const Contents &contents);

}  // namespace cairn::spool
