// Whom the receives from anybody of one thread heard, in the order in which they were posted. Where a request was made
// the trace says so only at the call that completed it, maybe in another segment of the thread's life: so all calls are
// gone through once. (src/replay/outcomes.h finds the same while a replay runs.)
//
// Plain function. Cost: the thread's calls; memory for its receives from anybody.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/read/trace.h"

namespace cairn::proxy {

/// (source, tag) of each receive that makes a request and is from anybody, or under any tag, by the class of the
/// sequence that posted it. What the trace does not say is MPI_ANY_SOURCE, MPI_ANY_TAG.
std::map<uint32_t, std::vector<std::pair<trace::Atom, trace::Atom>>> heard_by(const trace::Trace &trace, uint32_t rank,
                                                                              uint32_t thread);

}  // namespace cairn::proxy
