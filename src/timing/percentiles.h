// Percentiles of durations, by nearest rank: the p-th of n calls is how long the ⌈p·n/100⌉-th took, the shortest first.
//
// Of statistics they are estimates from the histogram: the bucket that holds the call is known, and the calls in it are
// taken to lie at equal ratios. No bucket ends above one and a half times its begin, so an estimate is less than half
// above the truth, and less than a third below (of durations below 2 ns: within 1 ns). The shortest and the longest
// call are exact. Those longer than 18 minutes have one bucket, and less is known of them.
//
// Where each call's time is there, Durations keeps those of up to 131,072 calls, and gives exact percentiles; of more
// it keeps eleven leading bits, and they are within 0.1 %. It takes 1 MiB at most, of many calls less than half of
// that.
//
// Plain values and functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "timing/call_stats.h"

namespace cairn::timing {

struct Percentile {
  uint64_t ns = 0;
  double error = 0;  ///< the most that it may be off, as a share of the truth; 0: it is exact
};

struct Percentiles {
  Percentile median;
  Percentile p95;
  Percentile p99;
};

/// Nothing where there are none, or where the histogram has not all of them: a recorder that has no memory left counts
/// calls, and may have no histogram.
std::optional<Percentiles> percentiles_of(const CallStats &calls);

class Durations {
 public:
  static constexpr size_t kExact = size_t{1} << 17;

  void add(uint64_t nanoseconds) {
    if (counts_.empty() && exact_.size() < kExact) {
      exact_.push_back(nanoseconds);
    } else {
      add_rounded(nanoseconds);
    }
  }
  void merge(const Durations &other);
  /// Nothing if there are none.
  [[nodiscard]] std::optional<Percentiles> percentiles() const;

 private:
  void add_rounded(uint64_t nanoseconds);

  std::vector<uint64_t> exact_;   ///< as they came; or
  std::vector<uint64_t> counts_;  ///< by their leading bits
  uint64_t least_ = UINT64_MAX;   ///< of counts_, as greatest_ is
  uint64_t greatest_ = 0;
};

}  // namespace cairn::timing
