// How exact the times of a trace are: those of single calls within their mode's bounds (timing/setting.h), and
// statistics that were made of such times within the same. When a call began is put together from single times: how far
// that may be off, blocks of times say (timing/stream.h).
//
// Pure; any thread. Cost: one rank's losses are read; where the recorder did not count its blocks, their heads.
#pragma once

#include <string>
#include <string_view>

#include "timing/stream.h"
#include "trace/read/trace.h"

namespace cairn::trace {

/// Statistics that were made of bounded times say so in what each rank lost (model/losses.h), after these words: their
/// mode does not.
constexpr std::string_view kOfBoundedTimes = "statistics are of times ";

/// "within 10%", as timing::exactness has it; "" where times are exact, or there are none.
std::string exactness(const Trace &trace);

/// What all times of single calls come to, how far begins may be off with it; nothing where there are none. Of ranks
/// whose times are damaged, what is found.
timing::StreamSize times_size(const Trace &trace);

}  // namespace cairn::trace
