// How small GPU warps' streams are: as the coder `predict` writes them on the device, and as a trace keeps them. What
// the streams of a trace were written with does not matter: they are decoded, and coded again.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "gpu/file/launches.h"

namespace cairn::analyze {

struct GpuSizes {
  uint64_t events = 0;
  uint64_t warps = 0;    ///< that recorded something
  uint64_t streams = 0;  ///< distinct
  uint64_t plain = 0;    ///< location and mask of every event: five bytes each, with 8-bit locations and 32 lanes
  uint64_t values = 0;   ///< what lanes told at points with values, four or eight bytes each
  uint64_t coded = 0;    ///< of all warps, in bytes
};

/// Cost in proportion to the events of distinct streams; a stream of more than gpu::most_at_once events is an
/// error.
Result<GpuSizes> gpu_sizes(const gpu::Launches &launches);

}  // namespace cairn::analyze
