// RankStats: durations of the calls of one row, merged over ranks, with what imbalance needs: least and greatest (and
// whose), mean and deviation of the ranks' sums. Everything is an exact integer, so that the result does not depend on
// the shape of the reduction tree.
//
// Plain value. It keeps the bytes that a file has of it, mostly some ten, in place: a class of ranks that never do the
// same twice has a row for each call, and the numbers of each would take 160. Telling or changing them costs a
// decoding, some tens of nanoseconds, and O(buckets used).
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "timing/call_stats.h"

namespace cairn::timing {

class RankStats {
 public:
  struct Numbers {
    CallStats calls;  ///< no bucket is empty
    uint64_t ranks = 0;
    uint64_t least_sum = 0;
    uint64_t greatest_sum = 0;
    uint32_t least_rank = 0;  ///< whose that is; of several the lowest, as of the greatest
    uint32_t greatest_rank = 0;
    /// Sum of the squares of the ranks' sums, 192 bits, low word first: no number of ranks can overflow it.
    std::array<uint64_t, 3> squares{};

    [[nodiscard]] double mean_sum() const;
    [[nodiscard]] double deviation_of_sums() const;
    void merge(const Numbers &other);
  };

  RankStats() = default;
  RankStats(const CallStats &calls, uint32_t rank);

  [[nodiscard]] Numbers numbers() const;
  void merge(const RankStats &other);
  /// Adds its calls, of all ranks, to others.
  void add_to(CallStats *calls) const;
  /// All ranks are called so much more.
  void add_to_ranks(uint32_t more);

  /// `calls` is how often the row stands in the sequences of all members, which is what the count nearly always is.
  void write(ByteWriter &out, uint64_t calls) const;
  static RankStats parse(ByteReader &in, uint64_t calls);
  bool operator==(const RankStats &other) const = default;

 private:
  explicit RankStats(const Numbers &numbers);
  [[nodiscard]] ByteView view() const { return {reinterpret_cast<const uint8_t *>(coded_.data()), coded_.size()}; }
  /// What `write` appends with no calls expected; empty: no ranks.
  std::string coded_;
};

}  // namespace cairn::timing
