#include "extrapolate/times.h"

#include <algorithm>
#include <cmath>

#include "timing/mode.h"

namespace cairn::extrapolate {
namespace {

using timing::CallStats;

constexpr int kShapes = 6;
double shape_at(int shape, double size) {
  switch (shape) {
    case 1:
      return std::log2(size);
    case 2:
      return std::sqrt(size);
    case 3:
      return size;
    case 4:
      return 1 / size;
    case 5:
      return 1 / std::sqrt(size);
    default:
      return 0;
  }
}

uint64_t middle_of(int bucket) { return (CallStats::bucket_start(bucket) + CallStats::bucket_start(bucket + 1)) / 2; }

/// All of them took the same.
CallStats alike(uint64_t count, double mean) {
  CallStats stats;
  stats.count = count;
  stats.minimum = stats.maximum = static_cast<uint64_t>(std::max(0.0, std::nearbyint(mean)));
  stats.sum = stats.minimum * count;
  stats.histogram[static_cast<size_t>(CallStats::bucket(stats.minimum))] = count;
  return stats;
}

}  // namespace

double Curve::at(double size) const { return std::max(0.0, a + b * shape_at(shape, size)); }

Curve Curve::through(const std::vector<double> &sizes, const std::vector<double> &values, double *residual) {
  Curve best;
  double least = -1;
  const int shapes = sizes.size() < 3 ? 2 : kShapes;
  for (int shape = 0; shape < shapes; ++shape) {
    // Squares of errors relative to the values: small runs count as much as large ones.
    double w = 0;
    double wx = 0;
    double wy = 0;
    double wxx = 0;
    double wxy = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const double weight = 1 / std::max(1.0, values[i] * values[i]);
      const double x = shape_at(shape, sizes[i]);
      w += weight;
      wx += weight * x;
      wy += weight * values[i];
      wxx += weight * x * x;
      wxy += weight * x * values[i];
    }
    Curve curve{shape, w == 0 ? 0 : wy / w, 0};
    const double determinant = w * wxx - wx * wx;
    if (shape != 0 && std::abs(determinant) > 1e-12 * w * wxx) {
      curve.b = (w * wxy - wx * wy) / determinant;
      curve.a = (wy - curve.b * wx) / w;
      // What falls below nothing further on, or begins there, is no law of times.
      if (curve.a < 0) curve = {shape, 0, wxx == 0 ? 0 : wxy / wxx};
      if (curve.b < 0) continue;
    }
    double error = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      error += std::abs(curve.at(sizes[i]) - values[i]) / std::max(1.0, values[i]);
    }
    error /= static_cast<double>(std::max<size_t>(1, sizes.size()));
    // A curve must be better by more than what one number more gives for nothing.
    const double handicap = shape == 0 ? 0 : 0.02;
    if (least >= 0 && error + handicap >= least) continue;
    least = error + handicap;
    *residual = error;
    best = curve;
  }
  return best;
}

Times Times::of(const std::vector<Run> &runs, Catalogue *catalogue) {
  Times times;
  times.known_ = std::all_of(runs.begin(), runs.end(), [](const Run &run) {
    const timing::Mode *mode = timing::mode_named(run.trace->run().timing);
    return mode != nullptr && mode->statistics;
  });
  if (!times.known_) return times;
  const size_t kinds = catalogue->kinds().size();
  std::vector<std::vector<CallStats>> of_run(runs.size(), std::vector<CallStats>(kinds));
  std::vector<double> outside;
  std::vector<double> sizes;
  for (size_t r = 0; r < runs.size(); ++r) {
    const trace::Trace &trace = *runs[r].trace;
    for (uint32_t c = 0; c < trace.class_count(); ++c) {
      for (uint32_t row = 0; row < trace.class_view(c).rows; ++row) {
        const trace::Row head = trace.row_head(c, row);
        const std::optional<uint32_t> kind =
            catalogue->kind({head.function, catalogue->site(r, c, head.site), head.depth});
        const std::optional<trace::RowStats> stats = trace.row_stats(c, row);
        if (!kind || !stats || stats->calls.count == 0) continue;
        CallStats &sum = of_run[r][*kind];
        if (sum.count == 0) {
          sum = stats->calls;
        } else {
          sum.merge(stats->calls);
        }
      }
    }
    double idle = 0;
    for (uint32_t rank = 0; rank < runs[r].ranks; ++rank) {
      const trace::Trace::RankInfo info = trace.rank_info(rank);
      idle += info.wall_ns > info.mpi_ns ? static_cast<double>(info.wall_ns - info.mpi_ns) : 0;
    }
    outside.push_back(idle / runs[r].ranks);
    sizes.push_back(static_cast<double>(runs[r].scale));
  }
  const size_t last = runs.size() - 1;
  times.largest_ = sizes.back();
  for (uint32_t c = 0; c < runs[last].trace->class_count(); ++c) {
    const auto sites = static_cast<uint32_t>(runs[last].trace->sites(c).size());
    for (uint32_t site = 1; site < sites; ++site) {
      const timing::GapStats *gaps = runs[last].trace->gaps(c, site);
      // Of all ranks of all classes.
      if (gaps != nullptr) times.gaps_[catalogue->site(last, c, site)] = *gaps;
    }
  }
  double ignored = 0;
  times.outside_ = Curve::through(sizes, outside, &ignored);
  times.mean_.resize(kinds);
  times.spread_.resize(kinds);
  double weights = 0;
  for (size_t kind = 0; kind < kinds; ++kind) {
    std::vector<double> at;
    std::vector<double> means;
    double weight = 0;
    for (size_t r = 0; r < runs.size(); ++r) {
      const CallStats &stats = of_run[r][kind];
      if (stats.count == 0) continue;
      at.push_back(sizes[r]);
      means.push_back(static_cast<double>(stats.sum) / static_cast<double>(stats.count));
      times.spread_[kind] = stats;
      weight = static_cast<double>(stats.sum);
    }
    if (at.empty()) continue;
    double residual = 0;
    times.mean_[kind] = Curve::through(at, means, &residual);
    times.residual_ += residual * weight;
    weights += weight;
  }
  if (weights > 0) times.residual_ /= weights;
  return times;
}

uint64_t Times::outside_ns(double size) const { return static_cast<uint64_t>(outside_.at(size)); }

std::optional<timing::GapStats> Times::gaps(uint32_t site, double size) const {
  const auto found = gaps_.find(site);
  if (found == gaps_.end()) return std::nullopt;
  const double times = size / largest_;
  timing::GapStats result;
  double so_far = 0;
  for (const timing::Histogram::Bucket &bucket : found->second.histogram.buckets()) {
    const auto count = static_cast<uint64_t>(std::llround(static_cast<double>(bucket.count) * times));
    if (count == 0) continue;
    result.histogram.append({bucket.number, count});
    so_far += static_cast<double>(count);
  }
  result.sum = static_cast<uint64_t>(found->second.mean() * so_far);
  return result;
}

CallStats Times::stats(uint32_t kind, uint64_t count, double size) const {
  const double mean = mean_[kind].at(size);
  const CallStats &spread = spread_[kind];
  if (count < 2 || spread.count == 0 || spread.sum == 0) return alike(count, mean);
  // The largest run's histogram, so many buckets along.
  const double there = static_cast<double>(spread.sum) / static_cast<double>(spread.count);
  const int along = static_cast<int>(std::lround(2 * std::log2(std::max(mean, 1.0) / std::max(there, 1.0))));
  CallStats stats;
  stats.count = count;
  double target = mean * static_cast<double>(count);
  double middles = 0;
  uint64_t before = 0;
  uint64_t placed = 0;
  int first = -1;
  int last = 0;
  for (const auto &[number, calls] : spread.histogram.buckets()) {
    before += calls;
    const auto upto = static_cast<uint64_t>(
        std::llround(static_cast<double>(before) / static_cast<double>(spread.count) * static_cast<double>(count)));
    if (upto <= placed) continue;
    const int bucket = std::clamp(number + along, 0, CallStats::kBuckets - 2);
    stats.histogram[static_cast<size_t>(bucket)] += upto - placed;
    middles += static_cast<double>(upto - placed) * static_cast<double>(middle_of(bucket));
    placed = upto;
    if (first < 0) first = bucket;
    last = bucket;
  }
  if (placed != count || first < 0) return alike(count, mean);
  stats.minimum = CallStats::bucket_start(first);
  stats.maximum = last == first ? CallStats::bucket_start(last) : middle_of(last);
  const double least = static_cast<double>(stats.minimum) * static_cast<double>(count);
  if (target < least) return alike(count, mean);
  if (target > middles) {
    // The few long calls that so small a sample has not got: one of them is longer.
    const double longest = target - middles + static_cast<double>(middle_of(last));
    const int bucket = CallStats::bucket(static_cast<uint64_t>(longest));
    if (--stats.histogram[static_cast<size_t>(last)] == 0) stats.histogram.drop_empty();
    ++stats.histogram[static_cast<size_t>(bucket)];
    stats.maximum = static_cast<uint64_t>(longest);
  }
  stats.sum = static_cast<uint64_t>(target);
  return stats;
}

}  // namespace cairn::extrapolate
