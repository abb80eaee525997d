// Call stacks with the time that was spent in MPI under each, a line a stack ("main;exchange;MPI_Recv main.c:13 1234"):
// what flamegraph.pl, inferno and speedscope draw flame graphs of. From the summary of call sites (analyze/summary.h):
// nothing is expanded unless the trace holds the time of every call.
#pragma once

#include <cstdint>

#include "analyze/filter.h"
#include "analyze/sources.h"
#include "base/result.h"
#include "export/files.h"
#include "trace/read/trace.h"

namespace cairn::exporting {

struct FoldedCounts {
  uint64_t stacks = 0;
  uint64_t sum = 0;
  bool of_time = true;   ///< nanoseconds; else numbers of calls, where the trace has no times
  uint64_t untimed = 0;  ///< stacks of which the time is not known, and that are left out
};

Result<FoldedCounts> write_folded(const trace::Trace &trace, const analyze::Sources &sources,
                                  const analyze::Filter &filter, OutFile *out);

}  // namespace cairn::exporting
