// RowStats: what the statistics of a class say of one of its rows.
//
// Plain value and function. Cost: the class's slots of statistics.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/model/record.h"

namespace cairn::trace {

struct ClassPart;

/// Statistics of one row merged over the members of its class.
struct RowStats {
  timing::CallStats calls;  ///< over all members
  uint64_t ranks = 0;       ///< number of ranks' sums that went in
  uint64_t least_sum = 0;   ///< smallest of the ranks' sums
  uint32_t least_rank = 0;  ///< whose that is; of several the lowest
  uint64_t greatest_sum = 0;
  uint32_t greatest_rank = 0;
  double mean_sum = 0;
  double deviation_of_sums = 0;
  /// The ranks' sums are made of several that were kept apart: least, greatest and deviation are not known exactly.
  bool sums_are_estimates = false;
};

/// Trace::row_stats.
std::optional<RowStats> row_stats_of(const ClassPart &part, uint32_t row);

/// How long the calls of each row took in the mean, in ns; UINT64_MAX where that is not known. Rows that were not told
/// apart have their common mean.
std::vector<uint64_t> mean_durations(const ClassPart &part);

}  // namespace cairn::trace
