// Blocks of GPU launches in timelines: a process for each device of a rank, tracks for each of its multiprocessors, as
// many as it had blocks at once, and a slice for each block. Of launches that were traced with clocks
// (gpu/analyze/blocks.h), whose cycles are stretched over the time for which the kernel ran.
//
// Borrows the launches. Memory and cost in proportion to the blocks, sorted.
#pragma once

#include <cstdint>
#include <vector>

#include "export/kernels.h"
#include "export/timeline_writer.h"

namespace cairn::exporting {

/// A launch with clocks, and when its first blocks began.
struct PlacedLaunch {
  uint32_t number = 0;  ///< among Launches::launches
  const gpu::LaunchRecord *launch = nullptr;
  int64_t begin_ns = 0;    ///< negative: before the axis begins; what its blocks did before it is cut off
  uint64_t length_ns = 0;  ///< 0: a cycle is a nanosecond
};
/// Of those kernels.
std::vector<PlacedLaunch> with_clocks(const Kernels &kernels);
/// Of those launches, all of them if there are none; by their own times, or from 0 on where nobody knows when they ran.
std::vector<PlacedLaunch> with_clocks(const gpu::Launches &launches, const std::vector<uint32_t> &wanted);

/// On processes from `first_process` on. Gives how many blocks there were.
uint64_t write_blocks(const gpu::Launches &launches, const std::vector<PlacedLaunch> &placed, uint32_t first_process,
                      TimelineWriter *writer);

}  // namespace cairn::exporting
