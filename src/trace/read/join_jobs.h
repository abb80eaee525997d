// Joining jobs: one trace of the traces of several jobs, one of which spawned the others, so that all questions that
// are asked of a trace can be asked of them together, and messages between them have both ends.
//
// The ranks of each further job follow those of the one before: rank 1 of a job behind one of four ranks is rank 5 of
// the trace. What calls say stays as it was recorded: ranks in them count within the job's own communicators. Classes
// of different jobs stay apart, since MPI_COMM_WORLD means something else in each. All jobs' times are on one axis:
// each job's clocks were compared with those of its own rank 0, so between jobs whose rank 0 ran on different hosts
// they stand by the hosts' clocks (RankClock::kOwn).
//
// Not kept: corrections of clocks, what GPUs did, what recording cost. Plain function; memory for all traces, their
// times included.
#pragma once

#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "trace/merge/part.h"
#include "trace/read/trace.h"

namespace cairn::trace {

/// The bytes of the joined trace. `traces`: of one job each, by `jobs`, whose `first` is set here. An error where they
/// cannot stand in one file.
Result<Bytes> join_jobs(const std::vector<const Trace *> &traces, std::vector<Job> jobs);

}  // namespace cairn::trace
