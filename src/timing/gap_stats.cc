#include "timing/gap_stats.h"

#include <algorithm>

#include "base/saturating.h"

namespace cairn::timing {

uint64_t GapStats::count() const {
  uint64_t all = 0;
  for (const Histogram::Bucket &bucket : histogram.buckets()) all = saturating(all, bucket.count);
  return all;
}

double GapStats::mean() const {
  const uint64_t all = count();
  return all == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(all);
}

void GapStats::add(uint64_t nanoseconds) {
  sum = saturating(sum, nanoseconds);
  ++histogram[static_cast<size_t>(CallStats::bucket(nanoseconds))];
}

void GapStats::merge(const GapStats &other) {
  sum = saturating(sum, other.sum);
  for (const Histogram::Bucket &bucket : other.histogram.buckets()) histogram.add(bucket);
}

void GapStats::write(ByteWriter &out) const {
  out.varint(sum);
  write_histogram(histogram, out);
}

GapStats GapStats::parse(ByteReader &in) {
  GapStats stats;
  stats.sum = in.varint();
  stats.histogram = parse_histogram(in);
  return stats;
}

// (places skipped, count) with a zero skip for neighbours.
void write_histogram(const Histogram &histogram, ByteWriter &out) {
  size_t used = 0;
  for (const Histogram::Bucket &bucket : histogram.buckets()) used += bucket.count != 0 ? 1 : 0;
  out.varint(used);
  const Histogram::Bucket *before = nullptr;
  for (const Histogram::Bucket &bucket : histogram.buckets()) {
    if (bucket.count == 0) continue;
    if (before == nullptr) {
      out.varint(bucket.number);
      out.varint(bucket.count);
    } else {
      // The lowest bit tells a skip.
      const unsigned skipped = bucket.number - before->number - 1U;
      // What does not fit beside that bit stays at the greatest number that does.
      out.varint(std::min(bucket.count, UINT64_MAX >> 1) << 1 | (skipped != 0 ? 1U : 0U));
      if (skipped != 0) out.varint(skipped);
    }
    before = &bucket;
  }
}

Histogram parse_histogram(ByteReader &in) {
  Histogram histogram;
  add_histogram(in, &histogram);
  return histogram;
}

void add_histogram(ByteReader &in, Histogram *to) {
  const uint64_t used = in.varint();
  uint64_t next = 0;
  if (used > CallStats::kBuckets) in.fail();
  if (used != 0) in.take(2 * used, sizeof(Histogram::Bucket));  // as a vector grows
  for (uint64_t i = 0; i < used && !in.failed(); ++i) {
    uint64_t count = 0;
    if (i == 0) {
      next = in.varint();
      count = in.varint();
    } else {
      count = in.varint();
      if ((count & 1) != 0) next += std::min<uint64_t>(in.varint(), CallStats::kBuckets);
      count >>= 1;
    }
    if (next >= CallStats::kBuckets) {
      in.fail();
      return;
    }
    to->add({static_cast<uint8_t>(next), count});
    ++next;
  }
}

}  // namespace cairn::timing
