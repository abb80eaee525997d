// When launches were made and ran, on the axis of the run, and how they read: what verbs tell of them between MPI
// calls.
//
// Plain functions. Cost: in proportion to the launches, sorted. Borrows what it is given.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/file/launches.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

/// A launch and its times in nanoseconds on the axis (trace/read/axis.h); negative: before the first rank began.
struct TimedLaunch {
  uint32_t number = 0;  ///< among Launches::launches
  const gpu::LaunchRecord *launch = nullptr;
  std::optional<int64_t> made_ns;   ///< nullopt: not known
  std::optional<int64_t> begin_ns;  ///< of the kernel, on the device; likewise. It ran for `launch->moment.duration_ns`
  /// From when it was made until it began.
  [[nodiscard]] std::optional<uint64_t> queued_ns() const;
};

/// Rank by rank, each in the order in which its launches were made; those of which that is not known first.
std::vector<TimedLaunch> launches_in_order(const trace::Trace &trace, const gpu::Launches &launches);
/// Of one rank, out of those. Cost: O(log launches).
std::span<const TimedLaunch> launches_of(uint32_t rank, std::span<const TimedLaunch> in_order);

/// All launches of one kernel.
struct KernelUse {
  std::string kernel;
  uint64_t launches = 0;
  uint64_t timed = 0;       ///< of them: it is known when they ran; what follows is of these
  uint64_t ran_ns = 0;      ///< on the device, together
  uint64_t longest_ns = 0;  ///< of one
  uint64_t queued_ns = 0;   ///< from launches to their kernels' begins, together
};

/// Those of these ranks by kernel, those that ran longest together first.
std::vector<KernelUse> kernel_uses(const gpu::Launches &launches, const std::vector<uint32_t> &ranks);

/// "4", "4x2", "4x2x3".
std::string sizes_text(const std::array<uint32_t, 3> &sizes);
/// "spin<<<4x2, 128>>>".
std::string launch_text(const gpu::Launches &launches, const gpu::LaunchRecord &launch);

}  // namespace cairn::analyze
