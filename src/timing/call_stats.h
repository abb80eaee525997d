// CallStats: how long the calls with one signature took on one rank, as a recorder counts while it records.
//
// Plain value. Times are in nanoseconds. The histogram has two buckets an octave, so that a bucket's bounds are within
// 50 % of each other from a nanosecond to half an hour in 80 numbers.
#pragma once

#include <array>
#include <cstdint>

namespace cairn::timing {

struct CallStats {
  static constexpr int kBuckets = 80;
  /// Two buckets an octave: 2*floor(log2 ns) + the bit below the leading one; the last one takes all above.
  static int bucket(uint64_t nanoseconds);
  /// The smallest value that falls into `bucket`.
  static uint64_t bucket_start(int bucket);
  uint64_t count = 0;
  uint64_t sum = 0;
  uint64_t minimum = 0;
  uint64_t maximum = 0;
  std::array<uint64_t, kBuckets> histogram{};
};

}  // namespace cairn::timing
