// What comes back from differences over a distance shorter than a vector of 256 bits: each element joined (by a sum, or
// by XOR) with the result that distance before it. Inside a vector in three steps, of one, two and four distances;
// between vectors by the end of the one before. AVX2 only: to be included where CAIRN_HAS_AVX2 is looked at.
#pragma once

#include "arrays/codec/cpu.h"

#ifdef CAIRN_HAS_AVX2
#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace cairn::codec {

struct ByXor {
  CAIRN_AVX2 [[gnu::always_inline]] static inline __m256i of(__m256i a, __m256i b, uint32_t /*word*/) {
    return _mm256_xor_si256(a, b);
  }
  CAIRN_AVX2 [[gnu::always_inline]] static inline __m256i of(__m256i a, __m256i b, uint64_t /*word*/) {
    return _mm256_xor_si256(a, b);
  }
};
struct BySum {
  CAIRN_AVX2 [[gnu::always_inline]] static inline __m256i of(__m256i a, __m256i b, uint32_t /*word*/) {
    return _mm256_add_epi32(a, b);
  }
  CAIRN_AVX2 [[gnu::always_inline]] static inline __m256i of(__m256i a, __m256i b, uint64_t /*word*/) {
    return _mm256_add_epi64(a, b);
  }
};

/// now[i] = rest[i] joined with now[i - distance], as far as whole vectors go; gives how far. There is a distance
/// before the first. Distances of a vector and more are taken as they are.
template <typename Join, typename Word>
CAIRN_AVX2 size_t join_running(Word *now, const Word *rest, size_t distance, size_t count) {
  constexpr size_t n = 32 / sizeof(Word);
  const auto at = [](const void *from) { return static_cast<const __m256i *>(from); };
  size_t i = 0;
  if (distance >= n) {
    for (; i + n <= count; i += n) {
      const __m256i x = Join::of(_mm256_loadu_si256(at(rest + i)), _mm256_loadu_si256(at(now + i - distance)), Word(0));
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(now + i), x);
    }
    return i;
  }
  constexpr size_t kPart = sizeof(Word) / 4;
  alignas(32) int from[4][8];
  alignas(32) int keep[3][8];
  Word before[n] = {};
  std::copy(now - distance, now, before + n - distance);
  size_t place = 0;  // of k within its distance
  for (size_t k = 0; k < n; ++k) {
    for (size_t p = 0; p < kPart; ++p) {
      for (size_t step = 0; step < 3; ++step) {
        const size_t back = distance << step;
        from[step][k * kPart + p] = back <= k ? static_cast<int>((k - back) * kPart + p) : 0;
        keep[step][k * kPart + p] = back <= k ? -1 : 0;
      }
      from[3][k * kPart + p] = static_cast<int>((n - distance + place) * kPart + p);
    }
    place = place + 1 == distance ? 0 : place + 1;
  }
  const __m256i one = _mm256_load_si256(at(from[0]));
  const __m256i two = _mm256_load_si256(at(from[1]));
  const __m256i four = _mm256_load_si256(at(from[2]));
  const __m256i carry = _mm256_load_si256(at(from[3]));
  const __m256i keep_one = _mm256_load_si256(at(keep[0]));
  const __m256i keep_two = _mm256_load_si256(at(keep[1]));
  const __m256i keep_four = _mm256_load_si256(at(keep[2]));
  __m256i last = _mm256_loadu_si256(at(before));
  for (; i + n <= count; i += n) {
    __m256i x = _mm256_loadu_si256(at(rest + i));
    x = Join::of(x, _mm256_and_si256(_mm256_permutevar8x32_epi32(x, one), keep_one), Word(0));
    x = Join::of(x, _mm256_and_si256(_mm256_permutevar8x32_epi32(x, two), keep_two), Word(0));
    x = Join::of(x, _mm256_and_si256(_mm256_permutevar8x32_epi32(x, four), keep_four), Word(0));
    last = Join::of(x, _mm256_permutevar8x32_epi32(last, carry), Word(0));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(now + i), last);
  }
  return i;
}

}  // namespace cairn::codec
#endif
