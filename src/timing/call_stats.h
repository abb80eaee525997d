// CallStats: how long the calls with one signature took on one rank, as a recorder counts while it records.
//
// Plain value. Times are in nanoseconds. The histogram has two buckets an octave, so that a bucket's bounds are within
// 50 % of each other from a nanosecond to half an hour in 80 numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::timing {

/// How many calls each bucket has. Of 80, most rows use one to six: only those are kept, since a rank that never does
/// the same twice has a row for each call.
class Histogram {
 public:
  struct Bucket {
    uint8_t number;
    uint64_t count;
    bool operator==(const Bucket &) const = default;
  };
  /// Of that number, which is there from now on.
  uint64_t &operator[](size_t number) {
    auto at = buckets_.begin();
    while (at != buckets_.end() && at->number < number) ++at;
    if (at == buckets_.end() || at->number != number) at = buckets_.insert(at, {static_cast<uint8_t>(number), 0});
    return at->count;
  }
  uint64_t operator[](size_t number) const {
    for (const Bucket &bucket : buckets_) {
      if (bucket.number == number) return bucket.count;
    }
    return 0;
  }
  /// Ascending; some may have no calls.
  [[nodiscard]] const std::vector<Bucket> &buckets() const { return buckets_; }
  /// Sums that would not fit stay at the greatest number.
  void add(Bucket bucket);
  /// Of a number above all that are there.
  void append(Bucket bucket) { buckets_.push_back(bucket); }
  void drop_empty() {
    std::erase_if(buckets_, [](const Bucket &bucket) { return bucket.count == 0; });
  }
  bool operator==(const Histogram &other) const = default;

 private:
  std::vector<Bucket> buckets_;
};

struct CallStats {
  static constexpr int kBuckets = 80;
  /// Two buckets an octave: 2*floor(log2 ns) + the bit below the leading one; the last one takes all above.
  static int bucket(uint64_t nanoseconds);
  /// The smallest value that falls into `bucket`.
  static uint64_t bucket_start(int bucket);
  /// Adds those of other calls. Sums that would not fit stay at the greatest number.
  void merge(const CallStats &other);
  bool operator==(const CallStats &other) const = default;
  uint64_t count = 0;
  uint64_t sum = 0;
  uint64_t minimum = 0;
  uint64_t maximum = 0;
  Histogram histogram;
};

}  // namespace cairn::timing
