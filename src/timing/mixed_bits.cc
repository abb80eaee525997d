#include "timing/mixed_bits.h"

#include <bit>

#include "base/as_size.h"

namespace cairn::timing {
namespace {

/// log2 in 65,536ths, rounded down: the number is squared again and again, and each time that it passes 2 is a bit.
int64_t log2_of(uint64_t number) {
  const int whole = 63 - std::countl_zero(number);
  uint64_t x = number << (31 - whole);  // 1 to 2, in 2³¹ths
  int64_t log = whole;
  for (int i = 0; i < 16; ++i) {
    x = x * x >> 31;
    const bool passed = x >> 32 != 0;
    log = 2 * log + (passed ? 1 : 0);
    if (passed) x >>= 1;
  }
  return log;
}

/// e^(−x / 256) in 2³²ths.
uint64_t exp_of_minus(unsigned x) {
  __extension__ using Wide = unsigned __int128;
  Wide factor = 4278222805;  // e^(−1 / 256)
  Wide result = Wide{1} << 32;
  for (; x != 0; x >>= 1) {
    if ((x & 1) != 0) result = result * factor >> 32;
    factor = factor * factor >> 32;
  }
  return static_cast<uint64_t>(result);
}

constexpr uint64_t kFewestLines = 256;
constexpr uint64_t kMostLines = uint64_t{1} << 16;
/// What a symbol may use of them in eight bits, were all contexts new.
constexpr uint64_t kLinesASymbol = 16;

}  // namespace

MixedBits::Tables::Tables() {
  constexpr int64_t kLn2 = 11629080;  // 256 · ln 2 in 65,536ths
  for (int64_t i = 0; i < 4096; ++i) {
    const int64_t log = log2_of(static_cast<uint64_t>(2 * i + 1)) - log2_of(static_cast<uint64_t>(8191 - 2 * i));
    stretch[static_cast<size_t>(i)] = static_cast<int16_t>(std::clamp<int64_t>(log * kLn2 >> 32, -2047, 2047));
  }
  for (int64_t i = 0; i < 4096; ++i) {
    const uint64_t odds = exp_of_minus(static_cast<unsigned>(i < 2048 ? 2048 - i : i - 2048));
    // 1 / (1 + odds), or odds / (1 + odds) on the lower half.
    const uint64_t above = i < 2048 ? odds : uint64_t{1} << 32;
    const uint64_t p = (above << 16) / ((uint64_t{1} << 32) + odds);
    squash[static_cast<size_t>(i)] = static_cast<uint16_t>(std::clamp<uint64_t>(p, 16, 65520));
  }
  const auto rate = [](int learnt) { return 65536 / (2 * learnt + 3); };
  for (int i = 0; i < 256; ++i) rates[static_cast<size_t>(i)] = rate(i % 16) | rate(i / 16) << 16;
}

const MixedBits::Tables &MixedBits::tables() {
  static const Tables all;
  return all;
}

MixedBits::MixedBits(uint64_t symbols) {
  const uint64_t most = symbols > kMostLines ? kMostLines : symbols * kLinesASymbol;
  const uint64_t lines = std::bit_ceil(std::clamp(most, kFewestLines, kMostLines));
  line_shift_ = 64 - std::countr_zero(lines);
  lines_.resize(as_size(lines), Line{});
  // What is not known yet is shared out: weights of 0.3 make a little more of what eight contexts agree on, as those of
  // 0.6 do of two.
  for (Weights<kContexts> &weights : weights_) std::fill(std::begin(weights.of), std::end(weights.of), int16_t{2458});
  for (Weights<2> &weights : fine_) std::fill(std::begin(weights.of), std::end(weights.of), int16_t{4915});
}

}  // namespace cairn::timing
