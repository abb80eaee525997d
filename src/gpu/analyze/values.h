// What lanes told at a point with values, as columns: an entry for each lane of each event, in the order of launches,
// warps, events and lanes. For whoever wants to count, sort or plot them: the columns are plain arrays of one length.
//
// Decodes each distinct stream once. Holds all values of the point: so many that they would take more than
// kMostGpuValues entries are an error.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "gpu/file/launches.h"

namespace cairn::analyze {

constexpr uint64_t kMostGpuValues = uint64_t{1} << 24;

struct GpuValues {
  std::vector<uint32_t> launch;
  std::vector<uint32_t> warp;
  std::vector<uint64_t> event;  ///< of the warp's, from 0
  std::vector<uint8_t> lane;
  std::vector<gpu::ValueType> type;
  std::vector<uint64_t> bits;  ///< see gpu::Event

  [[nodiscard]] size_t size() const { return bits.size(); }
  /// The entry's value, whatever its type; integers of more than 53 bits are rounded.
  [[nodiscard]] double number(size_t entry) const;
};

/// Of all launches of `program`. None, if nobody came to `location` or it is no point with values.
Result<GpuValues> gpu_values(const gpu::Launches &launches, uint32_t program, uint16_t location);

}  // namespace cairn::analyze
