// What GPU kernels did in one run and not in another: launch by launch, warp by warp, up to the first event that
// differs.
//
// Launches are paired in their order on each rank, so that one more in a run does not shift those after it. Points are
// paired by their function and their order in it, so that code that only moved is the same. Warps whose streams are the
// same bytes of the same program are equal without being decoded; of the others each pair of streams is decoded once,
// however many warps share it. Cost: the events of differing streams, four times at most; memory 8 bytes for every
// 4,096 of them. What a damaged stream gives is an error.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "gpu/file/launches.h"

namespace cairn::analyze {

/// Programs of paired launches.
struct GpuProgramPair {
  uint32_t first = 0;
  uint32_t second = 0;
  bool edited = false;                               ///< the hashes of the sources differ
  std::map<uint16_t, uint16_t> points;               ///< which is which
  std::vector<std::pair<uint16_t, uint16_t>> moved;  ///< of `points`, those on another line or in another file
  std::vector<uint16_t> gone;                        ///< only in the first
  std::vector<uint16_t> fresh;                       ///< only in the second
};

/// Warps that differ in the same way.
struct GpuWarpDifference {
  std::vector<uint32_t> warps;
  uint64_t event = 0;               ///< the first that differs, from 0
  std::optional<gpu::Event> first;  ///< nothing: it ended before, or did not keep more
  std::optional<gpu::Event> second;
  uint64_t events_first = 0;  ///< how many there were, those that were not kept included
  uint64_t events_second = 0;
};

struct GpuLaunchPair {
  std::optional<uint32_t> first;  ///< in one of them only: the other is nothing
  std::optional<uint32_t> second;
  bool same_shape = true;  ///< grid and block are
  uint64_t warps = 0;      ///< that both traced
  uint64_t unpaired = 0;   ///< that one of them traced
  uint64_t differing = 0;  ///< of `warps`
  uint64_t cut = 0;        ///< of `warps`, those equal as far as both kept them
  std::vector<GpuWarpDifference> differences;
  [[nodiscard]] bool equal() const { return first && second && same_shape && unpaired == 0 && differing == 0; }
};

struct GpuDiff {
  std::vector<GpuProgramPair> programs;
  std::vector<GpuLaunchPair> launches;
  [[nodiscard]] bool equal() const;
};

/// With `join`, what parts of a split warp recorded at one location one after another is one event, as for cairn dump.
Result<GpuDiff> gpu_diff(const gpu::Launches &first, const gpu::Launches &second, bool join);

}  // namespace cairn::analyze
