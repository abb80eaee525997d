// Warps that did the same, looked at once: their events lie in the trace once, however many there are.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "gpu/file/launches.h"

namespace cairn::analyze {

struct DistinctWarp {
  const gpu::LaunchRecord *launch = nullptr;  ///< of the first of them
  const gpu::WarpStreams *warp = nullptr;     ///< the first
  uint32_t launch_number = 0;
  uint64_t times = 0;  ///< how many warps, of this kernel, have just these events
};
/// In the order in which the first of each stands in the trace. Cost: the warps.
std::vector<DistinctWarp> distinct_warps(const gpu::Launches &launches);

/// Shows what is to see of each one's events, in order. An error names the warp whose streams are wrong.
Result<void> each_event(const gpu::Launches &launches, const DistinctWarp &warp,
                        const std::function<void(const gpu::Event &)> &visit);

}  // namespace cairn::analyze
