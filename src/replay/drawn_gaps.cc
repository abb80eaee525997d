#include "replay/drawn_gaps.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace cairn::replay {
namespace {

using timing::CallStats;

/// A rank that is further from the mean of all than this was outside MPI elsewhere than before calls: it was recorded
/// in part only, or its calls were left out.
constexpr double kMostStretch = 16;

/// The mean of so many values of a bucket in the middles of equal parts of it, where ratios are alike.
double mean_of(double first, double last, double count) {
  const double ratio = std::log(last / first);
  if (ratio <= 0) return first;
  return first * std::exp(ratio / (2 * count)) * std::expm1(ratio) / (count * std::expm1(ratio / count));
}

uint64_t hashed(uint64_t value) {
  value = (value ^ value >> 33) * 0xff51afd7ed558ccdU;
  value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53U;
  return value ^ value >> 33;
}

double outside_mpi(const trace::Trace &trace, uint32_t rank) {
  const trace::Trace::RankInfo info = trace.rank_info(rank);
  return static_cast<double>(info.wall_ns - std::min(info.wall_ns, info.mpi_ns));
}

/// All gaps of all sites.
double recorded(const trace::Trace &trace) {
  std::set<const timing::GapStats *> sites;
  for (uint32_t c = 0; c < trace.class_count(); ++c) {
    const auto count = static_cast<uint32_t>(trace.sites(c).size());
    for (uint32_t site = 1; site < count; ++site) sites.insert(trace.gaps(c, site));
  }
  double sum = 0;
  for (const timing::GapStats *gaps : sites) sum += gaps == nullptr ? 0 : static_cast<double>(gaps->sum);
  return sum;
}

/// How unevenly multiples of step / parts lie on a circle: the sum of the quotients of its continued fraction. Nothing
/// where they do not come to all parts.
std::optional<uint64_t> unevenness(uint64_t step, uint64_t parts) {
  uint64_t sum = 0;
  while (step != 0) {
    sum += parts / step;
    parts = std::exchange(step, parts % step);
  }
  return parts == 1 ? std::optional<uint64_t>(sum) : std::nullopt;
}

/// Near parts over the golden ratio, the one whose multiples lie most evenly.
uint64_t step_of(uint64_t parts) {
  constexpr uint64_t kTried = 32;
  const auto golden = static_cast<uint64_t>(static_cast<double>(parts) * 0.6180339887498949);
  uint64_t best = 1;
  uint64_t least = UINT64_MAX;
  for (uint64_t step = golden > kTried ? golden - kTried : 1; step <= golden + kTried && step < parts; ++step) {
    const std::optional<uint64_t> uneven = unevenness(step, parts);
    if (!uneven || *uneven >= least) continue;
    least = *uneven;
    best = step;
  }
  return best;
}

}  // namespace

DrawnGaps::DrawnGaps(const trace::Trace &trace, uint32_t rank) : trace_(trace), rank_(rank) {
  double expected = 0;  // of the sites, for calls as many as this rank made
  bool one_thread = true;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> calls;
  for (const trace::SequenceView &sequence : trace.sequences(rank)) {
    one_thread = one_thread && sequence.thread == 0;
    const std::vector<uint64_t> counts = trace.row_counts(sequence);
    for (uint32_t row = 0; row < counts.size(); ++row) {
      const trace::Row head = trace.row_head(sequence.class_index, row);
      const timing::GapStats *gaps = head.depth != 0 ? nullptr : trace.gaps(sequence.class_index, head.site);
      if (gaps == nullptr) continue;
      known_ = true;
      calls[{sequence.class_index, head.site}] += counts[row];
      expected += static_cast<double>(counts[row]) * gaps->mean();
    }
  }
  // What several threads spent in MPI together says nothing of one.
  const double outside = outside_mpi(trace, rank);
  if (one_thread && expected > 0 && outside > 0) {
    double all = 0;
    for (const uint32_t each : trace.ranks()) all += outside_mpi(trace, each);
    stretch_ = std::clamp(outside / expected * recorded(trace) / all, 1 / kMostStretch, kMostStretch);
  }
  for (const auto &[site, count] : calls) sites_[site] = made(site.first, site.second, count);
}

DrawnGaps::Site DrawnGaps::made(uint32_t class_index, uint32_t site, uint64_t calls) const {
  Site result;
  const timing::GapStats *gaps = trace_.gaps(class_index, site);
  if (gaps == nullptr || gaps->count() == 0) return result;
  const auto all = static_cast<double>(gaps->count());
  double below = 0;
  double sum = 0;
  for (const timing::Histogram::Bucket &bucket : gaps->histogram.buckets()) {
    const bool top = bucket.number + 1 >= CallStats::kBuckets;
    const double first = std::max(1.0, static_cast<double>(CallStats::bucket_start(bucket.number)));
    const double last = top ? first : static_cast<double>(CallStats::bucket_start(bucket.number + 1));
    const auto count = static_cast<double>(bucket.count);
    below += count;
    sum += count * mean_of(first, last, count);
    result.steps.push_back({below / all, first, last});
  }
  if (sum > 0) result.stretch = static_cast<double>(gaps->sum) / sum;
  const trace::Site place = trace_.sites(class_index)[site];
  const uint64_t seed = hashed(place.offset + place.module);
  const std::vector<uint32_t> ranks = trace_.ranks();
  const auto among = static_cast<uint64_t>(std::find(ranks.begin(), ranks.end(), rank_) - ranks.begin());
  result.within = (static_cast<double>((among + seed) % ranks.size()) + 0.5) / static_cast<double>(ranks.size());
  result.parts = std::max<uint64_t>(calls, 1);
  result.part = hashed(seed + rank_ + 1) % result.parts;
  result.step = step_of(result.parts);
  return result;
}

uint64_t DrawnGaps::next(uint32_t class_index, uint32_t site) {
  const auto found = sites_.find({class_index, site});
  if (found == sites_.end() || found->second.steps.empty()) return 0;
  Site &from = found->second;
  const double u = (static_cast<double>(from.part) + from.within) / static_cast<double>(from.parts);
  from.part = (from.part + from.step) % from.parts;
  const auto step =
      std::find_if(from.steps.begin(), from.steps.end() - 1, [&](const Step &each) { return u < each.up_to; });
  const double below = step == from.steps.begin() ? 0 : (step - 1)->up_to;
  const double part = (u - below) / (step->up_to - below);
  const double value = step->first * std::pow(step->last / step->first, part);
  return static_cast<uint64_t>(value * from.stretch * stretch_);
}

}  // namespace cairn::replay
