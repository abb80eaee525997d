// What GPU warps did at each trace point: how often, with how many lanes, and which warps diverge most. Made from the
// distinct streams of a trace, each decoded once however many warps share it.
//
// Const after it was made. Cost in proportion to the events of distinct streams.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/file/launches.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

/// What a trace holds of GPU programs; without launches if it traced none.
Result<gpu::Launches> gpu_launches(const trace::Trace &trace);

/// Sums over all that a trace holds.
struct GpuOverview {
  uint64_t launches = 0;
  std::array<uint64_t, gpu::kUntraced> untraced{};  ///< of them, by why: no warp of theirs was traced
  uint64_t kernels = 0;                             ///< distinct
  uint64_t clocked = 0;                             ///< launches whose warps told when and where they ran
  uint64_t warps = 0;
  uint64_t streams = 0;  ///< distinct
  uint64_t events = 0;
  uint64_t lost = 0;
};
GpuOverview gpu_overview(const gpu::Launches &launches);

/// A warp that did badly at a point.
struct WorstWarp {
  uint32_t launch = 0;
  uint32_t warp = 0;
  double mean_lanes = 0;
};

struct PointUse {
  uint32_t program = 0;
  uint16_t location = 0;
  uint64_t visits = 0;           ///< events
  uint64_t lanes = 0;            ///< summed over visits
  uint64_t width = 0;            ///< lanes that a warp has, summed over visits
  std::vector<WorstWarp> worst;  ///< of the fewest lanes in the mean, at most kWorst, the worst first
  static constexpr size_t kWorst = 3;
  [[nodiscard]] double mean_lanes() const;
  /// Lanes of the warps that were not there, summed over visits.
  [[nodiscard]] uint64_t lost() const { return width - lanes; }
  /// Lanes that worked of those that could, 0 to 1.
  [[nodiscard]] double efficiency() const;
};

/// What is wrong with streams, one line each; nothing if all decode.
std::vector<std::string> gpu_faults(const gpu::Launches &launches);

/// Every point of every program but accesses to memory (accesses.h), by program and location; those that nobody came to
/// as well.
Result<std::vector<PointUse>> gpu_points(const gpu::Launches &launches);

/// "kernel.cu:12 loop in f", or "location 7".
std::string point_text(const gpu::ProgramRecord &program, uint16_t location);

}  // namespace cairn::analyze
