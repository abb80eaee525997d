#include "trace/rank_stats.h"

#include <algorithm>
#include <cmath>

namespace cairn::trace {
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

// Buckets as (places skipped, count) with a zero skip for neighbours; docs/format.md, "Statistics".
void write_histogram(const std::array<uint64_t, CallStats::kBuckets> &histogram, ByteWriter &out) {
  int used = 0;
  for (const uint64_t count : histogram) used += count != 0 ? 1 : 0;
  out.varint(static_cast<uint64_t>(used));
  int next = 0;
  for (int i = 0; i < CallStats::kBuckets; ++i) {
    const uint64_t count = histogram[static_cast<size_t>(i)];
    if (count == 0) continue;
    if (next == 0) {
      out.varint(static_cast<uint64_t>(i));
      out.varint(count);
    } else {
      // The lowest bit tells a skip.
      out.varint(count << 1 | (i != next ? 1U : 0U));
      if (i != next) out.varint(static_cast<uint64_t>(i - next));
    }
    next = i + 1;
  }
}

void parse_histogram(ByteReader &in, std::array<uint64_t, CallStats::kBuckets> *histogram) {
  const uint64_t used = in.varint();
  uint64_t next = 0;
  if (used > CallStats::kBuckets) in.fail();
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
    (*histogram)[next++] = count;
  }
}

}  // namespace

RankStats::RankStats(const CallStats &calls, uint32_t rank)
    : calls_(calls),
      ranks_(1),
      least_(calls.sum),
      greatest_(calls.sum),
      greatest_rank_(rank),
      squares_(square(calls.sum)) {}

void RankStats::merge(const RankStats &other) {
  if (other.ranks_ == 0) return;
  if (ranks_ == 0) {
    *this = other;
    return;
  }
  if (calls_.count == 0) {
    calls_.minimum = other.calls_.minimum;
    calls_.maximum = other.calls_.maximum;
  } else if (other.calls_.count != 0) {
    calls_.minimum = std::min(calls_.minimum, other.calls_.minimum);
    calls_.maximum = std::max(calls_.maximum, other.calls_.maximum);
  }
  calls_.count = saturating(calls_.count, other.calls_.count);
  calls_.sum = saturating(calls_.sum, other.calls_.sum);
  for (size_t i = 0; i < calls_.histogram.size(); ++i) {
    calls_.histogram[i] = saturating(calls_.histogram[i], other.calls_.histogram[i]);
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
  RankStats both = *this;
  both.merge(other);
  *this = RankStats(both.calls_, greatest_rank_);
}

double RankStats::mean_sum() const {
  return ranks_ == 0 ? 0.0 : static_cast<double>(calls_.sum) / static_cast<double>(ranks_);
}

double RankStats::deviation_of_sums() const {
  if (ranks_ < 2) return 0.0;
  // n·Σx² − (Σx)², exactly: as floating-point numbers the two would cancel.
  std::array<uint64_t, 4> difference = times(squares_, ranks_);
  const Words total = square(calls_.sum);
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
  out.signed_varint(static_cast<int64_t>(calls_.count - calls));
  out.varint(ranks_);
  if (ranks_ == 0) return;
  out.varint(calls_.sum);
  out.varint(calls_.minimum);
  out.varint(calls_.maximum - calls_.minimum);
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
  write_histogram(calls_.histogram, out);
}

RankStats RankStats::parse(ByteReader &in, uint64_t calls) {
  RankStats stats;
  stats.calls_.count = calls + static_cast<uint64_t>(in.signed_varint());
  stats.ranks_ = in.varint();
  if (stats.ranks_ == 0) return stats;
  if (stats.ranks_ > (uint64_t{1} << 32)) in.fail();
  stats.calls_.sum = in.varint();
  stats.calls_.minimum = in.varint();
  stats.calls_.maximum = stats.calls_.minimum + in.varint();
  if (stats.ranks_ == 1) {
    stats.least_ = stats.calls_.sum;
    stats.greatest_ = stats.calls_.sum;
    stats.greatest_rank_ = static_cast<uint32_t>(in.varint());
    stats.squares_ = square(stats.calls_.sum);
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
  parse_histogram(in, &stats.calls_.histogram);
  return stats;
}

bool RankStats::operator==(const RankStats &other) const {
  return calls_.count == other.calls_.count && calls_.sum == other.calls_.sum &&
         calls_.minimum == other.calls_.minimum && calls_.maximum == other.calls_.maximum &&
         calls_.histogram == other.calls_.histogram && ranks_ == other.ranks_ && least_ == other.least_ &&
         greatest_ == other.greatest_ && greatest_rank_ == other.greatest_rank_ && squares_ == other.squares_;
}

}  // namespace cairn::trace
