// What of a run has no action in SMPI's replay, told before anything is written: counts of calls by what they are.
//
// Needs the rows of all classes; no call is expanded. Plain functions, any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "spec/spec.h"
#include "trace/read/trace.h"

namespace cairn::simgrid {

/// "one-sided communication"; nullptr: calls of the function become actions, or move nothing to other processes.
const char *why_left_out(const spec::Function &function);

/// By "MPI_Put (one-sided communication)", how many calls there are.
std::map<std::string, uint64_t> left_out(const trace::Trace &trace);

}  // namespace cairn::simgrid
