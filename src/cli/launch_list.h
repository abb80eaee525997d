// GPU launches and kernels as lists: of cairn gpu launches, and of cairn summary.
//
// Plain functions. Cost: in proportion to the launches.
#pragma once

#include <string>
#include <vector>

#include "gpu/analyze/moments.h"
#include "terminal/listing.h"

namespace cairn::cli {

/// A line for each, at most `most`. Times in JSON are nanoseconds on the axis, whole numbers.
Listing launch_list(const gpu::Launches &launches, const std::vector<analyze::TimedLaunch> &timed, uint64_t most);
/// A line for each kernel.
Listing kernel_list(const std::vector<analyze::KernelUse> &uses);

}  // namespace cairn::cli
