// When a rank was last there whose recording was cut short: killed, or left behind by a job that ended.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/read/trace.h"

namespace cairn::trace {

/// On the axis of the run. From the end of its last call until then, the rank was outside MPI. Nothing if it came to
/// its end, or if calls are missing, so that nobody knows which was the last.
std::optional<uint64_t> cut_short_ns(const Trace &trace, uint32_t rank);

}  // namespace cairn::trace
