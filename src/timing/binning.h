// Binning: times as small numbers. A *bin* is a range of nanoseconds that one value stands for: with a bound of 10 %,
// bin 21 is 103 to 125 ns, all of which are read back as 113.
//
// - Of a relative bound e (Pilgrim, 2.3.2): a value v is read back as a whole number r with |v − r| ≤ e·v. Bins are as
//   wide as that allows, from 1 up; 0 is a bin of its own, and where no two values fit into a bin they are exact. There
//   are some ln(2⁶⁴) / 2e bins: 219 with 10 %, 2,086 with 1 %.
// - *Exact* (a bound of 0): the bin tells a value's bit length and the two bits below its leading one; so many lower
//   bits, `extra_bits`, tell it from the others of its bin.
//
// In whole numbers throughout: the same bins on every machine. Immutable once made (microseconds; a millisecond with
// the least bound); any thread. `bin` costs a table lookup and, with bounds under 1 %, a search among a few bins.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::timing {

/// Bounds are in millionths: 10 % is 100,000.
constexpr uint32_t kLeastBound = 100;
constexpr uint32_t kMostBound = 1'000'000;

class Binning {
 public:
  /// `bound` of kLeastBound to kMostBound, or 0: exact.
  explicit Binning(uint32_t bound);

  [[nodiscard]] uint32_t bound() const { return bound_; }
  [[nodiscard]] uint32_t count() const { return exact() ? kExactBins : static_cast<uint32_t>(first_.size()); }
  /// Of the greatest bin's number.
  [[nodiscard]] int bits() const { return static_cast<int>(std::bit_width(count() - 1)); }

  [[nodiscard]] uint32_t bin(uint64_t value) const {
    const int length = static_cast<int>(std::bit_width(value));
    if (exact()) return exact_bin(value, length);
    const size_t cell = cell_of(value, length);
    uint32_t bin = cells_[cell];
    for (uint32_t more = cells_[cell + 1] - bin; more != 0;) {
      const uint32_t half = (more + 1) / 2;
      const bool above = first_[bin + half] <= value;
      bin += above ? half : 0;
      more = above ? more - half : half - 1;
    }
    return bin;
  }
  /// What the bin's values are read back as; of an exact bin the first of them. `bin` must be below `count`.
  [[nodiscard]] uint64_t value(uint32_t bin) const { return exact() ? exact_first(bin) : value_[bin]; }
  /// How many bits tell an exact bin's values apart; 0 with a bound.
  [[nodiscard]] int extra_bits(uint32_t bin) const { return exact() && bin >= 8 ? static_cast<int>(bin / 4) - 1 : 0; }

 private:
  static constexpr uint32_t kExactBins = 8 + 61 * 4;
  static constexpr int kCellBits = 5;  ///< below the leading one

  [[nodiscard]] bool exact() const { return bound_ == 0; }
  static uint32_t exact_bin(uint64_t value, int length) {
    if (length < 4) return static_cast<uint32_t>(value);
    return static_cast<uint32_t>(length - 2) * 4 + static_cast<uint32_t>(value >> (length - 3) & 3);
  }
  static uint64_t exact_first(uint32_t bin) {
    return bin < 8 ? bin : static_cast<uint64_t>(4 + bin % 4) << (bin / 4 - 1);
  }
  static size_t cell_of(uint64_t value, int length) {
    if (length <= kCellBits + 1) return static_cast<size_t>(value);
    const auto below = static_cast<size_t>(value >> (length - 1 - kCellBits)) & ((1U << kCellBits) - 1);
    return (static_cast<size_t>(length - kCellBits) << kCellBits) + below;
  }

  uint32_t bound_;
  std::vector<uint64_t> first_;  ///< of each bin, ascending
  std::vector<uint64_t> value_;
  /// The bin of the first value with that length and those leading bits; one more at the end.
  std::array<uint32_t, ((64 - kCellBits + 1) << kCellBits) + 1> cells_{};
};

}  // namespace cairn::timing
