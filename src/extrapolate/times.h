// Times: how long calls take in a run of another size. Of each kind of call the mean duration in each run is fitted by
// a + b * g(size) with the one g among none, log2, square root, the size itself and its inverses that comes nearest
// (ScalaExtrap fits curves in the same way, section 3.4); durations are spread as in the largest run. So is the time
// between calls, where the largest run has histograms of gaps.
//
// Only of runs whose timing mode keeps statistics. Plain values; const use by any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "extrapolate/catalogue.h"
#include "timing/call_stats.h"

namespace cairn::extrapolate {

/// a + b * g(size), never negative.
struct Curve {
  int shape = 0;
  double a = 0;
  double b = 0;
  [[nodiscard]] double at(double size) const;
  /// The nearest of them by relative squares; `sizes` ascend. Two points get a constant or a line through log2, since
  /// any curve goes through two. `residual`: the mean distance, as a share of the values.
  static Curve through(const std::vector<double> &sizes, const std::vector<double> &values, double *residual);
};

class Times {
 public:
  static Times of(const std::vector<Run> &runs, Catalogue *catalogue);

  /// All runs keep statistics.
  [[nodiscard]] bool known() const { return known_; }
  /// Of `count` calls of one signature of that kind in a run of that size; the same for all ranks.
  [[nodiscard]] timing::CallStats stats(uint32_t kind, uint64_t count, double size) const;
  /// Of the gaps before the calls at a site of the catalogue, as long as they were in the largest run, as many as a run
  /// of that size has; nothing where it kept none.
  [[nodiscard]] std::optional<timing::GapStats> gaps(uint32_t site, double size) const;
  /// What a rank spends outside MPI.
  [[nodiscard]] uint64_t outside_ns(double size) const;
  /// How far the curves are from what was measured, in the mean over time in MPI, as a share of it.
  [[nodiscard]] double residual() const { return residual_; }

 private:
  bool known_ = false;
  double residual_ = 0;
  std::vector<Curve> mean_;                    ///< by kind
  std::vector<timing::CallStats> spread_;      ///< by kind, of the largest run that has it
  std::map<uint32_t, timing::GapStats> gaps_;  ///< by site, of the largest run
  double largest_ = 1;                         ///< its size
  Curve outside_;
};

}  // namespace cairn::extrapolate
