#include "trace/read/row_stats.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "trace/model/class_part.h"

namespace cairn::trace {
namespace {

using Numbers = timing::RankStats::Numbers;

RowStats as_row_stats(const Numbers &stats) {
  RowStats result;
  result.calls = stats.calls;
  result.ranks = stats.ranks;
  result.least_sum = stats.least_sum;
  result.least_rank = stats.least_rank;
  result.greatest_sum = stats.greatest_sum;
  result.greatest_rank = stats.greatest_rank;
  result.mean_sum = stats.mean_sum();
  result.deviation_of_sums = stats.deviation_of_sums();
  return result;
}

/// Several statistics of the same ranks as one: of the rank with the greatest sum in one, the others count as their
/// means, and of that with the least.
RowStats together(const std::vector<Numbers> &parts) {
  Numbers all;
  double mean = 0;
  double squares = 0;
  for (const Numbers &part : parts) {
    all.merge(part);
    mean += part.mean_sum();
    squares += part.deviation_of_sums() * part.deviation_of_sums();
  }
  RowStats result = as_row_stats(all);
  result.ranks = parts[0].ranks;
  result.mean_sum = mean;
  result.deviation_of_sums = std::sqrt(squares);
  result.sums_are_estimates = true;
  double greatest = -1;
  double least = INFINITY;
  for (const Numbers &part : parts) {
    const double others = mean - part.mean_sum();
    if (const double sum = others + static_cast<double>(part.greatest_sum); sum > greatest) {
      greatest = sum;
      result.greatest_rank = part.greatest_rank;
    }
    if (const double sum = others + static_cast<double>(part.least_sum); sum < least) {
      least = sum;
      result.least_rank = part.least_rank;
    }
  }
  result.greatest_sum = static_cast<uint64_t>(greatest);
  result.least_sum = static_cast<uint64_t>(least);
  return result;
}

/// Statistics of other ranks are added.
void add_ranks(const RowStats &other, RowStats *to) {
  if (to->ranks == 0) {
    *to = other;
    return;
  }
  if (other.ranks == 0) return;
  const auto ours = static_cast<double>(to->ranks);
  const auto theirs = static_cast<double>(other.ranks);
  const double mean = (to->mean_sum * ours + other.mean_sum * theirs) / (ours + theirs);
  const double apart = to->mean_sum - other.mean_sum;
  const double variance = (to->deviation_of_sums * to->deviation_of_sums * ours +
                           other.deviation_of_sums * other.deviation_of_sums * theirs) /
                              (ours + theirs) +
                          apart * apart * ours * theirs / ((ours + theirs) * (ours + theirs));
  to->calls.merge(other.calls);
  to->ranks += other.ranks;
  if (other.least_sum < to->least_sum || (other.least_sum == to->least_sum && other.least_rank < to->least_rank)) {
    to->least_sum = other.least_sum;
    to->least_rank = other.least_rank;
  }
  if (other.greatest_sum > to->greatest_sum ||
      (other.greatest_sum == to->greatest_sum && other.greatest_rank < to->greatest_rank)) {
    to->greatest_sum = other.greatest_sum;
    to->greatest_rank = other.greatest_rank;
  }
  to->mean_sum = mean;
  to->deviation_of_sums = std::sqrt(variance);
  to->sums_are_estimates |= other.sums_are_estimates;
}

}  // namespace

std::optional<RowStats> row_stats_of(const ClassPart &part, uint32_t row) {
  if (part.stats.empty() || row >= part.rows.size()) return std::nullopt;
  RowStats result;
  for (const StatsBlock &block : part.stats) {
    if (block.rows.empty()) {
      add_ranks(as_row_stats(block.slots[row].numbers()), &result);
      continue;
    }
    std::vector<Numbers> found;
    for (size_t slot = 0; slot < block.slots.size(); ++slot) {
      if (!block.rows[slot].empty() && block.rows[slot][0] == row) found.push_back(block.slots[slot].numbers());
    }
    if (found.size() == 1) add_ranks(as_row_stats(found[0]), &result);
    if (found.size() > 1) add_ranks(together(found), &result);
  }
  return result;
}

std::vector<uint64_t> mean_durations(const ClassPart &part) {
  struct Sum {
    double calls = 0;
    double time = 0;
  };
  std::vector<Sum> sums(part.rows.size());
  for (const StatsBlock &block : part.stats) {
    for (size_t slot = 0; slot < block.slots.size(); ++slot) {
      const timing::CallStats calls = block.slots[slot].numbers().calls;
      const auto own = static_cast<uint32_t>(slot);
      for (const uint32_t row : block.rows.empty() ? std::span(&own, 1) : block.rows[slot]) {
        sums[row].calls += static_cast<double>(calls.count);
        sums[row].time += static_cast<double>(calls.sum);
      }
    }
  }
  std::vector<uint64_t> means;
  means.reserve(sums.size());
  for (const Sum &sum : sums)
    means.push_back(sum.calls == 0 ? UINT64_MAX : static_cast<uint64_t>(sum.time / sum.calls));
  return means;
}

}  // namespace cairn::trace
