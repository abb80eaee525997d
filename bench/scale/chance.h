// Chance that can be computed anywhere: every rank must know what another one drew, without being it.
// Pure functions.
#pragma once

#include <cstdint>

namespace cairn::scale {

constexpr uint64_t mix(uint64_t value) {  // splitmix64's finaliser
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}
constexpr uint64_t chance(uint64_t a, uint64_t b, uint64_t c = 0) { return mix(a ^ mix(b ^ mix(c))); }
constexpr uint32_t below(uint64_t random, uint64_t limit) { return static_cast<uint32_t>(random % limit); }

/// A random permutation of [0, size), computed forth and back in O(1): a Feistel network of four rounds, walked until
/// it lands inside (Black & Rogaway 2002, cycle walking).
class Permutation {
 public:
  constexpr Permutation(uint32_t size, uint64_t seed) : size_(size), seed_(seed) {
    while ((uint64_t{1} << (2 * half_)) < size) ++half_;
  }
  [[nodiscard]] constexpr uint32_t forth(uint32_t value) const {
    do value = round_trip(value, false);
    while (value >= size_);
    return value;
  }
  [[nodiscard]] constexpr uint32_t back(uint32_t value) const {
    do value = round_trip(value, true);
    while (value >= size_);
    return value;
  }

 private:
  [[nodiscard]] constexpr uint32_t round_trip(uint32_t value, bool backwards) const {
    const uint32_t mask = (1U << half_) - 1;
    uint32_t left = value >> half_;
    uint32_t right = value & mask;
    for (uint32_t i = 0; i < kRounds; ++i) {
      if (backwards) {
        const uint32_t before = right ^ (static_cast<uint32_t>(chance(seed_, kRounds - 1 - i, left)) & mask);
        right = left;
        left = before;
      } else {
        const uint32_t after = left ^ (static_cast<uint32_t>(chance(seed_, i, right)) & mask);
        left = right;
        right = after;
      }
    }
    return (left << half_) | right;
  }

  static constexpr uint32_t kRounds = 4;
  uint32_t size_;
  uint64_t seed_;
  uint32_t half_ = 1;
};

}  // namespace cairn::scale
