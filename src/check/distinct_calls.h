// What distinct calls tell, each looked at once however often it was made: which objects are left at MPI_Finalize, and
// which calls had arguments that MPI forbids, or returned errors.
//
// Nothing is expanded but streams of fields; of a rank whose names of objects only their order tells apart
// (living_objects.h) all calls are gone through, and of the first rank with a finding, to say which call it was.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "check/findings.h"
#include "trace/read/trace.h"

namespace cairn::check {

/// `ranks`: those that are looked at; `leaking`: those of them of which leaks are told.
Result<void> look_at_distinct_calls(const trace::Trace &trace, const std::vector<uint32_t> &ranks,
                                    const std::vector<uint32_t> &leaking, const Kinds &kinds, Findings *findings);

}  // namespace cairn::check
