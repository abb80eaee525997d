// Family: the traces of a run, of the jobs that it spawned, of those that these spawned, and so on. Each job has a
// trace of its own: run.cairn, and beside it run-2.cairn, run-3.cairn, in the order in which they began or ended.
//
// Which is whose: where the launcher names jobs (Open MPI does) a spawned job's trace says by which process of which
// job it was spawned (trace::RunInfo::spawned_by), and of the jobs of one process the first that began is of its first
// MPI_Comm_spawn. Where nothing says so, it is the first job with as many processes as were asked for that began while
// the one that spawned it ran.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

struct FamilyMember {
  std::string file;
  trace::Trace trace;
  // How it came about; of the first member all are 0.
  uint32_t parent = 0;  ///< which of the members spawned it
  uint32_t root = 0;    ///< by the process of that rank there
  uint64_t number = 0;  ///< by which of its calls that spawned a job
};

/// `first` is the trace at `file`, the oldest. The others are among `spawned`; without such names, they lie beside it.
/// An error says which job has no trace, and which trace is of none.
Result<std::vector<FamilyMember>> family_of(trace::Trace first, const std::string &file,
                                            const std::vector<std::string> &spawned);
/// The file of a job beside the trace at `file` that was spawned by that run, for who finds no call there that did it.
std::optional<std::string> unseen_child(const trace::Trace &trace, const std::string &file);

}  // namespace cairn::analyze
