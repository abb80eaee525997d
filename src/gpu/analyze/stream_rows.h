// What streams of GPUs did when, in columns of a window: how long kernels ran in each, by kernel.
//
// Made once, const after. Cost: in proportion to the launches and the columns that they cover; memory for a number a
// stream, column and kernel that ran there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gpu/analyze/moments.h"

namespace cairn::analyze {

struct StreamRow {
  uint32_t rank = 0;
  uint32_t device = 0;
  uint32_t stream = 0;
  /// Nanoseconds in each column, by kernel.
  std::map<std::string, std::vector<uint64_t>> ns;
  [[nodiscard]] std::string name() const;  ///< "0 gpu0/0": rank, device, stream
};

/// Rows of these ranks, by rank, device and stream, of streams on which some kernel ran in the window. `edges`: where
/// columns begin on the axis, ascending, and where the last ends.
std::vector<StreamRow> stream_rows(const std::vector<TimedLaunch> &timed, const gpu::Launches &launches,
                                   const std::vector<uint32_t> &ranks, const std::vector<uint64_t> &edges);

}  // namespace cairn::analyze
