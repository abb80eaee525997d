#include "timing/rank_stats.h"

#include <algorithm>
#include <cmath>

namespace cairn::timing {
namespace {

__extension__ using Wide = unsigned __int128;
using Words = std::array<uint64_t, 3>;

void add(Words *to, const Words &words) {
  Wide carry = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    carry += static_cast<Wide>((*to)[i]) + words[i];
    (*to)[i] = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
}

Words square(uint64_t value) {
  const Wide product = static_cast<Wide>(value) * value;
  return {static_cast<uint64_t>(product), static_cast<uint64_t>(product >> 64), 0};
}

/// words * factor, in four words.
std::array<uint64_t, 4> times(const Words &words, uint64_t factor) {
  std::array<uint64_t, 4> result{};
  Wide carry = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    carry += static_cast<Wide>(words[i]) * factor;
    result[i] = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
  result[3] = static_cast<uint64_t>(carry);
  return result;
}

uint64_t saturating(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

}  // namespace

RankStats::RankStats(const CallStats &calls, uint32_t rank)
    : count_(calls.count),
      sum_(calls.sum),
      minimum_(calls.minimum),
      maximum_(calls.maximum),
      ranks_(1),
      least_(calls.sum),
      greatest_(calls.sum),
      greatest_rank_(rank),
      squares_(square(calls.sum)) {
  histogram_.reserve(calls.histogram.buckets().size());
  for (const Histogram::Bucket &bucket : calls.histogram.buckets()) {
    if (bucket.count != 0) histogram_.push_back(bucket);
  }
}

CallStats RankStats::calls() const {
  CallStats result;
  result.count = count_;
  result.sum = sum_;
  result.minimum = minimum_;
  result.maximum = maximum_;
  for (const Bucket &bucket : histogram_) result.histogram[bucket.number] = bucket.count;
  return result;
}

// Buckets as (places skipped, count) with a zero skip for neighbours; docs/format.md, "Statistics".
void RankStats::write_histogram(ByteWriter &out) const {
  out.varint(histogram_.size());
  for (size_t i = 0; i < histogram_.size(); ++i) {
    const Bucket &bucket = histogram_[i];
    if (i == 0) {
      out.varint(bucket.number);
      out.varint(bucket.count);
      continue;
    }
    // The lowest bit tells a skip.
    const unsigned skipped = bucket.number - histogram_[i - 1].number - 1U;
    out.varint(bucket.count << 1 | (skipped != 0 ? 1U : 0U));
    if (skipped != 0) out.varint(skipped);
  }
}

void RankStats::parse_histogram(ByteReader &in) {
  const uint64_t used = in.varint();
  uint64_t next = 0;
  if (used > CallStats::kBuckets) in.fail();
  if (used != 0) in.take(2 * used, sizeof(Bucket));  // as a vector grows
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
    if (count != 0) histogram_.push_back({static_cast<uint8_t>(next), count});
    ++next;
  }
}

void RankStats::merge(const RankStats &other) {
  if (other.ranks_ == 0) return;
  if (ranks_ == 0) {
    *this = other;
    return;
  }
  if (count_ == 0) {
    minimum_ = other.minimum_;
    maximum_ = other.maximum_;
  } else if (other.count_ != 0) {
    minimum_ = std::min(minimum_, other.minimum_);
    maximum_ = std::max(maximum_, other.maximum_);
  }
  count_ = saturating(count_, other.count_);
  sum_ = saturating(sum_, other.sum_);
  auto at = histogram_.begin();
  for (const Bucket &bucket : other.histogram_) {
    while (at != histogram_.end() && at->number < bucket.number) ++at;
    if (at != histogram_.end() && at->number == bucket.number) {
      at->count = saturating(at->count, bucket.count);
    } else {
      at = histogram_.insert(at, bucket);
    }
  }
  ranks_ += other.ranks_;
  least_ = std::min(least_, other.least_);
  if (other.greatest_ > greatest_ || (other.greatest_ == greatest_ && other.greatest_rank_ < greatest_rank_)) {
    greatest_ = other.greatest_;
    greatest_rank_ = other.greatest_rank_;
  }
  add(&squares_, other.squares_);
}

void RankStats::add_calls(const RankStats &other) {
  const uint32_t rank = greatest_rank_;
  merge(other);
  ranks_ = 1;
  least_ = greatest_ = sum_;
  greatest_rank_ = rank;
  squares_ = square(sum_);
}

double RankStats::mean_sum() const {
  return ranks_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(ranks_);
}

double RankStats::deviation_of_sums() const {
  if (ranks_ < 2) return 0.0;
  // n·Σx² − (Σx)², exactly: as floating-point numbers the two would cancel.
  std::array<uint64_t, 4> difference = times(squares_, ranks_);
  const Words total = square(sum_);
  uint64_t borrow = 0;
  for (size_t i = 0; i < difference.size(); ++i) {
    const uint64_t subtract = i < total.size() ? total[i] : 0;
    const Wide wide = static_cast<Wide>(difference[i]) - subtract - borrow;
    difference[i] = static_cast<uint64_t>(wide);
    borrow = (wide >> 64) != 0 ? 1 : 0;
  }
  if (borrow != 0) return 0.0;  // only if the sum saturated, or the file lies
  double variance = 0;
  for (size_t i = difference.size(); i-- > 0;) variance = variance * 0x1p64 + static_cast<double>(difference[i]);
  return std::sqrt(variance) / static_cast<double>(ranks_);
}

void RankStats::write(ByteWriter &out, uint64_t calls) const {
  out.signed_varint(static_cast<int64_t>(count_ - calls));
  out.varint(ranks_);
  if (ranks_ == 0) return;
  out.varint(sum_);
  out.varint(minimum_);
  out.varint(maximum_ - minimum_);
  if (ranks_ == 1) {
    out.varint(greatest_rank_);
  } else {
    out.varint(least_);
    out.varint(greatest_ - least_);
    out.varint(greatest_rank_);
    uint8_t length = 24;
    while (length > 0 && ((squares_[(length - 1U) / 8] >> ((length - 1U) % 8 * 8)) & 0xff) == 0) --length;
    out.byte(length);
    for (unsigned i = 0; i < length; ++i) out.byte(static_cast<uint8_t>(squares_[i / 8] >> (i % 8 * 8)));
  }
  write_histogram(out);
}

RankStats RankStats::parse(ByteReader &in, uint64_t calls) {
  RankStats stats;
  stats.count_ = calls + static_cast<uint64_t>(in.signed_varint());
  stats.ranks_ = in.varint();
  if (stats.ranks_ == 0) return stats;
  if (stats.ranks_ > (uint64_t{1} << 32)) in.fail();
  stats.sum_ = in.varint();
  stats.minimum_ = in.varint();
  stats.maximum_ = stats.minimum_ + in.varint();
  if (stats.ranks_ == 1) {
    stats.least_ = stats.sum_;
    stats.greatest_ = stats.sum_;
    stats.greatest_rank_ = static_cast<uint32_t>(in.varint());
    stats.squares_ = square(stats.sum_);
  } else {
    stats.least_ = in.varint();
    stats.greatest_ = stats.least_ + in.varint();
    stats.greatest_rank_ = static_cast<uint32_t>(in.varint());
    const uint8_t length = in.byte();
    if (length > 24) in.fail();
    for (unsigned i = 0; i < length && !in.failed(); ++i) {
      stats.squares_[i / 8] |= static_cast<uint64_t>(in.byte()) << (i % 8 * 8);
    }
  }
  stats.parse_histogram(in);
  return stats;
}

}  // namespace cairn::timing
