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

using Numbers = RankStats::Numbers;

// The least and the greatest are known, and the others have what is left of the sum: their squares are the least where
// they are equal. What is above that is a byte or so less, of two and three ranks nothing.
Words least_squares(const Numbers &numbers) {
  Words squares = square(numbers.least_sum);
  add(&squares, square(numbers.greatest_sum));
  if (numbers.ranks <= 2) return squares;
  const uint64_t others = numbers.calls.sum - numbers.least_sum - numbers.greatest_sum;
  const Wide all = static_cast<Wide>(others) * others / (numbers.ranks - 2);
  add(&squares, {static_cast<uint64_t>(all), static_cast<uint64_t>(all >> 64), 0});
  return squares;
}

void write_duration(const CallStats &calls, uint32_t greatest_rank, ByteWriter &out) {
  out.varint(calls.sum);
  out.varint(calls.minimum);
  out.varint(calls.maximum - calls.minimum);
  out.varint(greatest_rank);
}

/// What `write_duration` wrote; gives the rank.
uint32_t read_duration(ByteReader &in, CallStats *calls) {
  calls->sum = in.varint();
  calls->minimum = in.varint();
  calls->maximum = calls->minimum + in.varint();
  return static_cast<uint32_t>(in.varint());
}

/// All but how many calls there are.
void write_rest(const Numbers &numbers, ByteWriter &out) {
  out.varint(numbers.ranks);
  if (numbers.ranks == 0) return;
  write_duration(numbers.calls, numbers.greatest_rank, out);
  if (numbers.ranks != 1) {
    out.varint(numbers.least_sum);
    out.varint(numbers.greatest_sum - numbers.least_sum);
    out.signed_varint(static_cast<int64_t>(numbers.least_rank) - static_cast<int64_t>(numbers.greatest_rank));
    Words above = numbers.squares;
    subtract(&above, least_squares(numbers));
    uint8_t length = 24;
    while (length > 0 && ((above[(length - 1U) / 8] >> ((length - 1U) % 8 * 8)) & 0xff) == 0) --length;
    out.byte(length);
    for (unsigned i = 0; i < length; ++i) out.byte(static_cast<uint8_t>(above[i / 8] >> (i % 8 * 8)));
  }
  write_histogram(numbers.calls.histogram, out);
}

Numbers read_numbers(ByteReader &in, uint64_t calls) {
  Numbers numbers;
  numbers.calls.count = calls + static_cast<uint64_t>(in.signed_varint());
  numbers.ranks = in.varint();
  if (numbers.ranks == 0) return numbers;
  if (numbers.ranks > (uint64_t{1} << 32)) in.fail();
  numbers.greatest_rank = read_duration(in, &numbers.calls);
  if (numbers.ranks == 1) {
    numbers.least_sum = numbers.greatest_sum = numbers.calls.sum;
    numbers.least_rank = numbers.greatest_rank;
    numbers.squares = square(numbers.calls.sum);
  } else {
    numbers.least_sum = in.varint();
    numbers.greatest_sum = numbers.least_sum + in.varint();
    numbers.least_rank = numbers.greatest_rank + static_cast<uint32_t>(in.signed_varint());
    const uint8_t length = in.byte();
    if (length > 24) in.fail();
    for (unsigned i = 0; i < length && !in.failed(); ++i) {
      numbers.squares[i / 8] |= static_cast<uint64_t>(in.byte()) << (i % 8 * 8);
    }
    add(&numbers.squares, least_squares(numbers));
  }
  numbers.calls.histogram = parse_histogram(in);
  return numbers;
}

}  // namespace

void Numbers::merge(const Numbers &other) {
  if (other.ranks == 0) return;
  if (ranks == 0) {
    *this = other;
    return;
  }
  calls.merge(other.calls);
  ranks += other.ranks;
  if (other.least_sum < least_sum || (other.least_sum == least_sum && other.least_rank < least_rank)) {
    least_sum = other.least_sum;
    least_rank = other.least_rank;
  }
  if (other.greatest_sum > greatest_sum ||
      (other.greatest_sum == greatest_sum && other.greatest_rank < greatest_rank)) {
    greatest_sum = other.greatest_sum;
    greatest_rank = other.greatest_rank;
  }
  add(&squares, other.squares);
}

double Numbers::mean_sum() const {
  return ranks == 0 ? 0.0 : static_cast<double>(calls.sum) / static_cast<double>(ranks);
}

double Numbers::deviation_of_sums() const {
  if (ranks < 2) return 0.0;
  // n·Σx² − (Σx)², exactly: as floating-point numbers the two would cancel.
  std::array<uint64_t, 4> difference = times(squares, ranks);
  const Words total = square(calls.sum);
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
  return std::sqrt(variance) / static_cast<double>(ranks);
}

RankStats::RankStats(const Numbers &numbers) {
  if (numbers.ranks == 0 && numbers.calls.count == 0) return;
  ByteWriter out(32);
  out.signed_varint(static_cast<int64_t>(numbers.calls.count));
  write_rest(numbers, out);
  coded_.assign(reinterpret_cast<const char *>(out.view().data()), out.size());
}

/// What the constructor above makes of one rank's numbers; a recording has one for each of its rows.
RankStats::RankStats(const CallStats &calls, uint32_t rank) {
  ByteWriter out(32);
  out.signed_varint(static_cast<int64_t>(calls.count));
  out.varint(1);
  write_duration(calls, rank, out);
  write_histogram(calls.histogram, out);
  coded_.assign(reinterpret_cast<const char *>(out.view().data()), out.size());
}

Numbers RankStats::numbers() const {
  if (coded_.empty()) return {};
  ByteReader in(view());
  return read_numbers(in, 0);
}

void RankStats::merge(const RankStats &other) {
  Numbers merged = numbers();
  merged.merge(other.numbers());
  *this = RankStats(merged);
}

void RankStats::add_to(CallStats *calls) const {
  if (coded_.empty()) return;
  ByteReader in(view());
  CallStats own;
  own.count = static_cast<uint64_t>(in.signed_varint());
  if (in.varint() != 1) return calls->merge(numbers().calls);
  read_duration(in, &own);
  calls->merge(own);
  add_histogram(in, &calls->histogram);
}

void RankStats::add_to_ranks(uint32_t more) {
  if (coded_.empty()) return;
  Numbers all = numbers();
  all.least_rank += more;
  all.greatest_rank += more;
  *this = RankStats(all);
}

void RankStats::write(ByteWriter &out, uint64_t calls) const {
  if (coded_.empty()) {
    out.signed_varint(static_cast<int64_t>(-calls));
    out.varint(0);
    return;
  }
  ByteReader in(view());
  out.signed_varint(static_cast<int64_t>(static_cast<uint64_t>(in.signed_varint()) - calls));
  out.raw(in.raw(in.remaining()));
}

RankStats RankStats::parse(ByteReader &in, uint64_t calls) {
  const Numbers numbers = read_numbers(in, calls);
  return in.failed() ? RankStats() : RankStats(numbers);
}

}  // namespace cairn::timing
