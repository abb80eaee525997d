// Jobs: which of the parts in a spool are of one run of MPI_Init to MPI_Finalize.
#pragma once

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

/// Leaves out the parts of jobs that merged themselves: their processes were killed when the trace was written already,
/// and before they could know. What was read stays in `files`.
void leave_out_finished(Contents *contents);

}  // namespace cairn::spool
