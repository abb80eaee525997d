// Joining a run's jobs: one trace of the traces of a family (family.h), in which what two jobs share is one
// communicator: trace/read/join_jobs.h, and what the jobs call these (communicator_names.h).
//
// Plain function. Cost: what join_jobs takes, and the calls of each process that spawned jobs.
#pragma once

#include <vector>

#include "analyze/family.h"
#include "base/bytes.h"
#include "base/result.h"

namespace cairn::analyze {

/// The bytes of the trace of them all.
Result<Bytes> join(const std::vector<FamilyMember> &family);

}  // namespace cairn::analyze
