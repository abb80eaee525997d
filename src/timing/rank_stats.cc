#include "timing/rank_stats.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "timing/gap_stats.h"

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

/// Of what is no less; else modulo 2^192.
void subtract(Words *from, const Words &words) {
  Wide borrow = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const Wide wide = static_cast<Wide>((*from)[i]) - words[i] - borrow;
    (*from)[i] = static_cast<uint64_t>(wide);
    borrow = (wide >> 64) != 0 ? 1 : 0;
  }
}

}  // namespace

RankStats::RankStats(const CallStats &calls, uint32_t rank)
    : calls_(calls),
      ranks_(1),
      least_(calls.sum),
      greatest_(calls.sum),
      least_rank_(rank),
      greatest_rank_(rank),
      squares_(square(calls.sum)) {
  calls_.histogram.drop_empty();
}

void RankStats::merge(const RankStats &other) {
  if (other.ranks_ == 0) return;
  if (ranks_ == 0) {
    *this = other;
    return;
  }
  calls_.merge(other.calls_);
  ranks_ += other.ranks_;
  if (other.least_ < least_ || (other.least_ == least_ && other.least_rank_ < least_rank_)) {
    least_ = other.least_;
    least_rank_ = other.least_rank_;
  }
  if (other.greatest_ > greatest_ || (other.greatest_ == greatest_ && other.greatest_rank_ < greatest_rank_)) {
    greatest_ = other.greatest_;
    greatest_rank_ = other.greatest_rank_;
  }
  add(&squares_, other.squares_);
}

void RankStats::add_calls(const RankStats &other) {
  CallStats calls = std::move(calls_);
  calls.merge(other.calls_);
  *this = RankStats(calls, greatest_rank_);
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

// The least and the greatest are known, and the others have what is left of the sum: their squares are the least where
// they are equal. What is above that is a byte or so less, of two and three ranks nothing.
std::array<uint64_t, 3> RankStats::least_squares() const {
  Words squares = square(least_);
  add(&squares, square(greatest_));
  if (ranks_ <= 2) return squares;
  const uint64_t others = calls_.sum - least_ - greatest_;
  const Wide all = static_cast<Wide>(others) * others / (ranks_ - 2);
  add(&squares, {static_cast<uint64_t>(all), static_cast<uint64_t>(all >> 64), 0});
  return squares;
}

void RankStats::write(ByteWriter &out, uint64_t calls) const {
  out.signed_varint(static_cast<int64_t>(calls_.count - calls));
  out.varint(ranks_);
  if (ranks_ == 0) return;
  out.varint(calls_.sum);
  out.varint(calls_.minimum);
  out.varint(calls_.maximum - calls_.minimum);
  out.varint(greatest_rank_);
  if (ranks_ != 1) {
    out.varint(least_);
    out.varint(greatest_ - least_);
    out.signed_varint(static_cast<int64_t>(least_rank_) - static_cast<int64_t>(greatest_rank_));
    Words above = squares_;
    subtract(&above, least_squares());
    uint8_t length = 24;
    while (length > 0 && ((above[(length - 1U) / 8] >> ((length - 1U) % 8 * 8)) & 0xff) == 0) --length;
    out.byte(length);
    for (unsigned i = 0; i < length; ++i) out.byte(static_cast<uint8_t>(above[i / 8] >> (i % 8 * 8)));
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
  stats.greatest_rank_ = static_cast<uint32_t>(in.varint());
  if (stats.ranks_ == 1) {
    stats.least_ = stats.greatest_ = stats.calls_.sum;
    stats.least_rank_ = stats.greatest_rank_;
    stats.squares_ = square(stats.calls_.sum);
  } else {
    stats.least_ = in.varint();
    stats.greatest_ = stats.least_ + in.varint();
    stats.least_rank_ = stats.greatest_rank_ + static_cast<uint32_t>(in.signed_varint());
    const uint8_t length = in.byte();
    if (length > 24) in.fail();
    for (unsigned i = 0; i < length && !in.failed(); ++i) {
      stats.squares_[i / 8] |= static_cast<uint64_t>(in.byte()) << (i % 8 * 8);
    }
    add(&stats.squares_, stats.least_squares());
  }
  stats.calls_.histogram = parse_histogram(in);
  return stats;
}

}  // namespace cairn::timing
