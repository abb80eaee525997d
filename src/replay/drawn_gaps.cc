#include "replay/drawn_gaps.h"

#include <algorithm>
#include <cmath>

namespace cairn::replay {
namespace {

using timing::CallStats;

constexpr double kGolden = 0.6180339887498949;
/// A rank that is further from the mean of all than this was outside MPI elsewhere than before calls: it was recorded
/// in part only, or its calls were left out.
constexpr double kMostStretch = 16;

/// The mean of a bucket's values, where small ones are more likely so that ratios are alike.
double mean_of(double first, double last) { return last <= first ? first : (last - first) / std::log(last / first); }

double hashed(uint64_t value) {
  value = (value ^ value >> 33) * 0xff51afd7ed558ccdU;
  value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53U;
  return static_cast<double>((value ^ value >> 33) >> 11) * 0x1p-53;
}

}  // namespace

DrawnGaps::DrawnGaps(const trace::Trace &trace, uint32_t rank) : trace_(trace), rank_(rank) {
  double expected = 0;  // of the sites, for calls as many as this rank made
  bool one_thread = true;
  for (const trace::SequenceView &sequence : trace.sequences(rank)) {
    one_thread = one_thread && sequence.thread == 0;
    const std::vector<uint64_t> counts = trace.row_counts(sequence);
    for (uint32_t row = 0; row < counts.size(); ++row) {
      const trace::Row head = trace.row_head(sequence.class_index, row);
      const timing::GapStats *gaps = head.depth != 0 ? nullptr : trace.gaps(sequence.class_index, head.site);
      if (gaps == nullptr) continue;
      known_ = true;
      expected += static_cast<double>(counts[row]) * gaps->mean();
    }
  }
  const trace::Trace::RankInfo info = trace.rank_info(rank);
  const auto outside = static_cast<double>(info.wall_ns - std::min(info.wall_ns, info.mpi_ns));
  // What several threads spent in MPI together says nothing of one.
  if (one_thread && expected > 0 && outside > 0)
    stretch_ = std::clamp(outside / expected, 1 / kMostStretch, kMostStretch);
}

DrawnGaps::Site DrawnGaps::made(uint32_t class_index, uint32_t site) const {
  Site result;
  const timing::GapStats *gaps = trace_.gaps(class_index, site);
  if (gaps == nullptr || gaps->count() == 0) return result;
  const auto all = static_cast<double>(gaps->count());
  double below = 0;
  double mean = 0;
  for (const timing::Histogram::Bucket &bucket : gaps->histogram.buckets()) {
    const bool top = bucket.number + 1 >= CallStats::kBuckets;
    const double first = std::max(1.0, static_cast<double>(CallStats::bucket_start(bucket.number)));
    const double last = top ? first : static_cast<double>(CallStats::bucket_start(bucket.number + 1));
    below += static_cast<double>(bucket.count);
    mean += static_cast<double>(bucket.count) / all * mean_of(first, last);
    result.steps.push_back({below / all, first, last});
  }
  if (mean > 0) result.stretch = gaps->mean() / mean;
  result.u = hashed((uint64_t{rank_} << 32) + (uint64_t{class_index} << 20) + site + 1);
  return result;
}

uint64_t DrawnGaps::next(uint32_t class_index, uint32_t site) {
  const auto [entry, fresh] = sites_.try_emplace({class_index, site});
  if (fresh) entry->second = made(class_index, site);
  Site &from = entry->second;
  if (from.steps.empty()) return 0;
  from.u += kGolden;
  if (from.u >= 1) from.u -= 1;
  const auto step =
      std::find_if(from.steps.begin(), from.steps.end() - 1, [&](const Step &each) { return from.u < each.up_to; });
  const double below = step == from.steps.begin() ? 0 : (step - 1)->up_to;
  const double part = (from.u - below) / (step->up_to - below);
  const double value = step->first * std::pow(step->last / step->first, part);
  return static_cast<uint64_t>(value * from.stretch * stretch_);
}

}  // namespace cairn::replay
