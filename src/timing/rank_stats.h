// RankStats: durations of the calls of one row, merged over ranks, with what imbalance needs: least and greatest (and
// whose), mean and deviation of the ranks' sums. Everything is an exact integer, so that the result does not depend on
// the shape of the reduction tree.
//
// Plain value. Most rows use 3 to 6 of the 80 buckets: only those are kept, some 120 bytes instead of 730, which is
// most of what a class with many rows takes. Merging costs O(buckets used).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "timing/call_stats.h"

namespace cairn::timing {

class RankStats {
 public:
  RankStats() = default;
  RankStats(const CallStats &calls, uint32_t rank);

  void merge(const RankStats &other);
  /// Adds calls of the same rank; nothing but this rank's may have gone into either.
  void add_calls(const RankStats &other);

  [[nodiscard]] const CallStats &calls() const { return calls_; }
  [[nodiscard]] uint64_t ranks() const { return ranks_; }
  [[nodiscard]] uint64_t least_sum() const { return least_; }
  /// Whose that is; of several the lowest, as of the greatest.
  [[nodiscard]] uint32_t least_rank() const { return least_rank_; }
  [[nodiscard]] uint64_t greatest_sum() const { return greatest_; }
  [[nodiscard]] uint32_t greatest_rank() const { return greatest_rank_; }
  [[nodiscard]] double mean_sum() const;
  [[nodiscard]] double deviation_of_sums() const;

  /// `calls` is how often the row stands in the sequences of all members, which is what the count nearly always is.
  void write(ByteWriter &out, uint64_t calls) const;
  static RankStats parse(ByteReader &in, uint64_t calls);
  bool operator==(const RankStats &other) const = default;

 private:
  /// What the file does not say of squares_, since what it says before them implies it.
  [[nodiscard]] std::array<uint64_t, 3> least_squares() const;

  CallStats calls_;  ///< no bucket is empty
  uint64_t ranks_ = 0;
  uint64_t least_ = 0;
  uint64_t greatest_ = 0;
  uint32_t least_rank_ = 0;
  uint32_t greatest_rank_ = 0;
  /// Sum of the squares of the ranks' sums, 192 bits, low word first: no number of ranks can overflow it.
  std::array<uint64_t, 3> squares_{};
};

}  // namespace cairn::timing
