// Warps that did the same, looked at once: their events lie in the trace once, however many there are.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "gpu/analyze/timeline.h"
#include "gpu/file/launches.h"

namespace cairn::analyze {

struct DistinctWarp {
  const gpu::LaunchRecord *launch = nullptr;  ///< of the first of them
  const gpu::WarpStreams *warp = nullptr;     ///< the first
  uint64_t times = 0;                         ///< how many warps, of this kernel, have just these events
};
/// In the order in which the first of each stands in the trace. Cost: the warps.
std::vector<DistinctWarp> distinct_warps(const gpu::Launches &launches);

/// Shows them as nested slices (timeline.h).
class WarpWalks {
 public:
  /// Borrows them.
  explicit WarpWalks(const gpu::Launches &launches);
  /// An error names the warp whose streams are wrong.
  Result<void> walk(const DistinctWarp &warp, TimelineVisitor *visitor) const;

 private:
  const gpu::Launches &launches_;
  std::vector<GpuLoops> loops_;  ///< by program
};

}  // namespace cairn::analyze
