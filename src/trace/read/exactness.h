// How exact the times of a trace are: those of single calls within their mode's bounds (timing/setting.h), and
// statistics that were made of such times within the same.
//
// Pure; any thread. Cost: one rank's losses are read.
#pragma once

#include <string>
#include <string_view>

#include "trace/read/trace.h"

namespace cairn::trace {

/// Statistics that were made of bounded times say so in what each rank lost (model/losses.h), after these words: their
/// mode does not.
constexpr std::string_view kOfBoundedTimes = "statistics are of times ";

/// "within 10%", as timing::exactness has it; "" where times are exact, or there are none.
std::string exactness(const Trace &trace);

}  // namespace cairn::trace
