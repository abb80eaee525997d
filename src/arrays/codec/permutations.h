// Which part of a vector of 256 bits goes where when only some of its lanes count: for the permutation of AVX2 that
// moves parts of 32 bits. Tables of a few kilobytes, made by the compiler.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace cairn::codec {

/// By the set of lanes.
template <size_t lanes>
struct Permutations {
  using Order = std::array<uint8_t, 8>;
  std::array<Order, size_t{1} << lanes> to_front = {};    ///< those lanes to the front, in their order
  std::array<Order, size_t{1} << lanes> to_end = {};      ///< to the end
  std::array<Order, size_t{1} << lanes> from_front = {};  ///< from the front back to where they are

  constexpr Permutations() {
    constexpr size_t part = 8 / lanes;  // of 32 bits
    for (size_t set = 0; set < to_front.size(); ++set) {
      const auto some = static_cast<size_t>(std::popcount(set));
      size_t next = 0;
      for (size_t lane = 0; lane < lanes; ++lane) {
        if ((set >> lane & 1) == 0) continue;
        for (size_t k = 0; k < part; ++k) {
          to_front[set][next * part + k] = static_cast<uint8_t>(lane * part + k);
          to_end[set][(lanes - some + next) * part + k] = static_cast<uint8_t>(lane * part + k);
          from_front[set][lane * part + k] = static_cast<uint8_t>(next * part + k);
        }
        ++next;
      }
    }
  }
};

/// For words of that size.
template <typename Word>
inline constexpr Permutations<32 / sizeof(Word)> kPermutations;

}  // namespace cairn::codec
