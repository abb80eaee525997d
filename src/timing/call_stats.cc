#include "timing/call_stats.h"

#include <algorithm>
#include <bit>

#include "base/saturating.h"

namespace cairn::timing {

void Histogram::add(Bucket bucket) {
  if (bucket.count == 0) return;
  if (buckets_.empty() || buckets_.back().number < bucket.number) return append(bucket);
  uint64_t &sum = (*this)[bucket.number];
  sum = saturating(sum, bucket.count);
}

int CallStats::bucket(uint64_t nanoseconds) {
  if (nanoseconds < 2) return 0;
  const int octave = 63 - std::countl_zero(nanoseconds);
  const int half = static_cast<int>(nanoseconds >> (octave - 1)) & 1;
  return std::min(2 * octave + half, kBuckets - 1);
}

uint64_t CallStats::bucket_start(int bucket) {
  if (bucket <= 0) return 0;
  if (bucket == 1) return 2;  // empty: 1 has no bit below the leading one
  return (uint64_t{2} | static_cast<uint64_t>(bucket & 1)) << (bucket / 2 - 1);
}

void CallStats::merge(const CallStats &other) {
  if (count == 0) {
    minimum = other.minimum;
    maximum = other.maximum;
  } else if (other.count != 0) {
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
  }
  count = saturating(count, other.count);
  sum = saturating(sum, other.sum);
  for (const Histogram::Bucket &bucket : other.histogram.buckets()) histogram.add(bucket);
}

}  // namespace cairn::timing
