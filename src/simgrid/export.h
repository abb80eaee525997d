// A whole run as a folder that SMPI's replay takes: a file of actions for each rank, "rank-17.txt", and "ranks.txt",
// the list of these files that `smpirun -replay` is given.
//
// Borrows the trace. One thread. Costs all calls of all ranks; memory for the communicators, and for one rank at a time
// (rank_actions.h).
#pragma once

#include <string>

#include "analyze/sources.h"
#include "base/result.h"
#include "simgrid/counts.h"
#include "trace/read/trace.h"

namespace cairn::simgrid {

struct ExportSettings {
  double speed = 1e9;  ///< what a second between calls becomes, in flops
  bool gaps = true;    ///< else nothing between calls takes time
};

/// What `smpirun -replay` takes, in that folder.
std::string list_in(const std::string &folder);

/// Whether all that is needed is there, before anything is written: a usage error if ranks or their calls are missing.
Result<void> may_be_exported(const trace::Trace &trace);

/// Makes the folder, or takes one that is empty; what it wrote of a run that cannot be written to its end is deleted.
Result<Counts> export_run(const trace::Trace &trace, const analyze::Sources &sources, const std::string &folder,
                          const ExportSettings &settings);

}  // namespace cairn::simgrid
