#include "analyze/gathered_line.h"

#include <algorithm>
#include <optional>
#include <set>

namespace cairn::analyze {
namespace {

// Of so many rows those with the greatest or least sums are looked at: the others hardly matter, and each costs as much
// as there are rows.
constexpr size_t kCandidates = 64;

}  // namespace

void GatheredLine::add_rank(uint32_t rank) {
  if (rank >= ranks_.size()) ranks_.resize(size_t{rank} + 1);
  ranks_[rank] = true;
}

void GatheredLine::add_stats(uint32_t class_index, const std::optional<trace::RowStats> &stats) {
  if (!stats) {
    line.timed = false;
    return;
  }
  line.time_ns += stats->calls.sum;
  line.longest_ns = std::max(line.longest_ns, stats->calls.maximum);
  rows_.push_back({stats->greatest_sum, stats->least_sum, stats->mean_sum, stats->greatest_rank, stats->least_rank,
                   class_index, stats->sums_are_estimates});
  of_rows_.merge(stats->calls);
}

void GatheredLine::add_times(uint32_t rank, const RowTimes &times) {
  line.time_ns += times.ns;
  line.longest_ns = std::max(line.longest_ns, times.longest_ns);
  if (line.calls != 0) sums_[rank] += times.ns;
}

void GatheredLine::sum_ranks(const RankSums &sums, const std::vector<uint32_t> &ranks) {
  uint64_t all = 0;
  for (const uint32_t rank : ranks) {
    if (!makes_call(rank)) continue;
    const std::optional<uint64_t> sum = sums.known() ? sums.of(rank, line.function) : std::nullopt;
    if (!sum) return sums_.clear();
    sums_[rank] = *sum;
    all += *sum;
  }
  if (sums_.empty() || line.timed) return;
  rows_.clear();
  line.timed = true;
  line.time_ns = all;
  line.longest_ns = 0;
}

void GatheredLine::finish(const trace::Trace &trace) {
  line.ranks = static_cast<uint64_t>(std::count(ranks_.begin(), ranks_.end(), true));
  if (!line.timed) {
    line.time_ns = line.longest_ns = 0;
    return;
  }
  if (rows_.empty()) {
    line.percentiles = durations_.percentiles();
  } else {
    line.percentiles = timing::percentiles_of(of_rows_);
  }
  if (line.time_ns == 0 || line.ranks == 0) return;
  for (const auto &[rank, sum] : sums_) {
    if (!makes_call(rank)) continue;
    if (!line.most || sum > line.most->ns) line.most = OfRank{rank, sum};
    if (!line.least || sum < line.least->ns) line.least = OfRank{rank, sum};
  }
  // Exact sums of rows come before those of functions, which are rounded.
  if (!rows_.empty()) {
    const OfRank most = most_of_rows(trace);
    const OfRank least = least_of_rows(trace);
    if (!most.is_estimate || !line.most) line.most = most;
    if (!least.is_estimate || !line.least) line.least = least;
  }
  if (!line.most) return;
  line.imbalance =
      static_cast<double>(line.most->ns) * static_cast<double>(line.ranks) / static_cast<double>(line.time_ns);
}

OfRank GatheredLine::most_of_rows(const trace::Trace &trace) {
  std::sort(rows_.begin(), rows_.end(), [](const Row &a, const Row &b) { return a.greatest_sum > b.greatest_sum; });
  OfRank most = of_rows(trace, rows_[0].greatest_rank, true);
  bool estimate = most.is_estimate;
  for (size_t i = 1; i < rows_.size() && i < kCandidates; ++i) {
    const OfRank other = of_rows(trace, rows_[i].greatest_rank, true);
    estimate = estimate || other.is_estimate;
    if (other.ns > most.ns || (other.ns == most.ns && other.rank < most.rank)) most = other;
  }
  most.is_estimate = estimate;
  return most;
}

OfRank GatheredLine::least_of_rows(const trace::Trace &trace) {
  std::sort(rows_.begin(), rows_.end(), [](const Row &a, const Row &b) { return a.least_sum < b.least_sum; });
  OfRank least = of_rows(trace, rows_[0].least_rank, false);
  // A rank that is in fewer classes than another, of several threads, may have spent less though it has the least in
  // none of them.
  std::set<uint32_t> classes;
  for (const Row &row : rows_) classes.insert(row.class_index);
  uint64_t members = 0;
  for (const uint32_t index : classes) members += trace.class_ranks(index).size();
  bool estimate = least.is_estimate || members != line.ranks;
  for (size_t i = 1; i < rows_.size() && i < kCandidates; ++i) {
    const OfRank other = of_rows(trace, rows_[i].least_rank, false);
    estimate = estimate || other.is_estimate;
    if (other.ns < least.ns || (other.ns == least.ns && other.rank < least.rank)) least = other;
  }
  least.is_estimate = estimate;
  return least;
}

/// What a rank spent in all rows that it has; the mean where it isn't the one with the greatest or the least sum.
OfRank GatheredLine::of_rows(const trace::Trace &trace, uint32_t rank, bool most) const {
  double sum = 0;
  OfRank result{rank, 0};
  std::vector<uint32_t> classes;  // a few; asking each row's class for the rank would take classes times rows
  for (const trace::SequenceView &sequence : trace.sequences(rank)) classes.push_back(sequence.class_index);
  for (const Row &row : rows_) {
    if ((most ? row.greatest_rank : row.least_rank) == rank) {
      sum += static_cast<double>(most ? row.greatest_sum : row.least_sum);
      result.is_estimate = result.is_estimate || row.are_estimates;
    } else if (std::find(classes.begin(), classes.end(), row.class_index) != classes.end()) {
      sum += row.mean_sum;
      result.is_estimate = true;
    }
  }
  result.ns = sum < 0x1p64 ? static_cast<uint64_t>(sum) : UINT64_MAX;  // a file may say anything
  return result;
}

}  // namespace cairn::analyze
