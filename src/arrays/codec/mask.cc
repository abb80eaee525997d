#include "arrays/codec/mask.h"

#include <bit>
#include <cstring>

#include "arrays/codec/cpu.h"
#include "arrays/codec/permutations.h"

#ifdef CAIRN_HAS_AVX2
#include <immintrin.h>
#endif

namespace cairn::codec {
namespace {

template <typename T>
CAIRN_BODY void mark_body(const uint8_t *__restrict values, size_t count, uint64_t fill, uint8_t *__restrict fills) {
  for (size_t i = 0; i < count; ++i) {
    T value;
    memcpy(&value, values + i * sizeof(T), sizeof(T));
    fills[i] = static_cast<uint8_t>(value == static_cast<T>(fill));
  }
}

template <typename T>
CAIRN_BODY void put_fill_body(const uint8_t *__restrict held, size_t count, uint64_t fill, uint8_t *__restrict values) {
  for (size_t i = 0; i < count; ++i) {
    T value;
    memcpy(&value, values + i * sizeof(T), sizeof(T));
    const T there = static_cast<T>(T(0) - static_cast<T>(held[i]));
    value = static_cast<T>((value & ~there) | (static_cast<T>(fill) & there));
    memcpy(values + i * sizeof(T), &value, sizeof(T));
  }
}

CAIRN_BODY Joined join_body(uint8_t *__restrict held, const uint8_t *__restrict fills, size_t count) {
  uint8_t others = 0;
  uint8_t some = 0;
  for (size_t i = 0; i < count; ++i) {
    others |= static_cast<uint8_t>(held[i] & ~fills[i]);
    held[i] |= fills[i];
    some |= held[i];
  }
  return {some != 0, others != 0};
}

template <typename T>
CAIRN_BODY void clear_body(const uint8_t *__restrict held, size_t count, T *__restrict numbers) {
  for (size_t i = 0; i < count; ++i) numbers[i] &= static_cast<T>(static_cast<T>(held[i]) - 1);
}

/// Calls `work` with a word of so many bytes.
template <typename Work>
void by_size(size_t size, Work work) {
  switch (size) {
    case 1:
      return work(uint8_t{});
    case 2:
      return work(uint16_t{});
    case 4:
      return work(uint32_t{});
    default:
      return work(uint64_t{});
  }
}

template <typename Word>
size_t squeeze_from(const uint8_t *held, size_t first, size_t count, const Word *numbers, Word *to) {
  Word *const begin = to;
  for (size_t i = first; i < count; ++i) {
    *to = numbers[i];
    to += held[i] ^ 1U;
  }
  return static_cast<size_t>(to - begin);
}
template <typename Word>
void spread_from(const uint8_t *held, size_t first, size_t count, const Word *numbers, Word *to) {
  for (size_t i = first; i < count; ++i) {
    to[i] = *numbers & static_cast<Word>(static_cast<Word>(held[i]) - 1);
    numbers += held[i] ^ 1U;
  }
}

#ifdef CAIRN_HAS_AVX2
CAIRN_STEP __m256i permuted(const void *from, const std::array<uint8_t, 8> &order) {
  const __m256i by = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(order.data())));
  return _mm256_permutevar8x32_epi32(_mm256_loadu_si256(static_cast<const __m256i *>(from)), by);
}
/// All bits of a lane where `held` is 0.
CAIRN_STEP __m256i present(const uint8_t *held, uint32_t /*word*/) {
  return _mm256_cmpeq_epi32(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(held))),
                            _mm256_setzero_si256());
}
CAIRN_STEP __m256i present(const uint8_t *held, uint64_t /*word*/) {
  int four = 0;
  memcpy(&four, held, 4);
  return _mm256_cmpeq_epi64(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four)), _mm256_setzero_si256());
}
CAIRN_STEP size_t lanes_of(__m256i mask, uint32_t /*word*/) {
  return static_cast<size_t>(_mm256_movemask_ps(_mm256_castsi256_ps(mask)));
}
CAIRN_STEP size_t lanes_of(__m256i mask, uint64_t /*word*/) {
  return static_cast<size_t>(_mm256_movemask_pd(_mm256_castsi256_pd(mask)));
}

template <typename Word>
CAIRN_AVX2 size_t squeeze_avx2(const uint8_t *held, size_t count, const Word *numbers, Word *to) {
  constexpr size_t n = 32 / sizeof(Word);
  Word *const begin = to;
  size_t i = 0;
  for (; i + n <= count; i += n) {
    const size_t set = lanes_of(present(held + i, Word(0)), Word(0));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), permuted(numbers + i, kPermutations<Word>.to_front[set]));
    to += std::popcount(set);
  }
  return static_cast<size_t>(to - begin) + squeeze_from(held, i, count, numbers, to);
}
template <typename Word>
CAIRN_AVX2 void spread_avx2(const uint8_t *held, size_t count, const Word *numbers, Word *to) {
  constexpr size_t n = 32 / sizeof(Word);
  size_t i = 0;
  for (; i + n <= count; i += n) {
    const __m256i mask = present(held + i, Word(0));
    const size_t set = lanes_of(mask, Word(0));
    const __m256i placed = _mm256_and_si256(mask, permuted(numbers, kPermutations<Word>.from_front[set]));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + i), placed);
    numbers += std::popcount(set);
  }
  spread_from(held, i, count, numbers, to);
}
#endif

}  // namespace

void mark_fill(size_t size, const uint8_t *values, size_t count, uint64_t fill, uint8_t *fills) {
  by_size(size, [&]<typename T>(T /*word*/) { on_this_cpu<mark_body<T>>(values, count, fill, fills); });
}
void put_fill(size_t size, const uint8_t *held, size_t count, uint64_t fill, uint8_t *values) {
  by_size(size, [&]<typename T>(T /*word*/) { on_this_cpu<put_fill_body<T>>(held, count, fill, values); });
}
Joined join_held(uint8_t *held, const uint8_t *fills, size_t count) {
  return on_this_cpu<join_body>(held, fills, count);
}
template <typename T>
void clear_held(const uint8_t *held, size_t count, T *numbers) {
  on_this_cpu<clear_body<T>>(held, count, numbers);
}
template void clear_held(const uint8_t *held, size_t count, uint8_t *numbers);
template void clear_held(const uint8_t *held, size_t count, uint32_t *numbers);
template void clear_held(const uint8_t *held, size_t count, uint64_t *numbers);
void put_mask(const uint8_t *held, size_t count, uint8_t *mask) {
  for (size_t i = 0; i < count; i += 8) {
    uint64_t eight = 0;
    memcpy(&eight, held + i, 8);
    mask[i / 8] = static_cast<uint8_t>(eight * 0x0102040810204080ULL >> 56);
  }
}
size_t get_mask(const uint8_t *mask, size_t count, uint8_t *held) {
  size_t some = 0;
  for (size_t i = 0; i < count; i += 8) {
    const uint64_t spread = mask[i / 8] * 0x0101010101010101ULL & 0x8040201008040201ULL;
    const uint64_t eight = (spread + 0x7f7f7f7f7f7f7f7fULL) >> 7 & 0x0101010101010101ULL;
    memcpy(held + i, &eight, 8);
    some += eight * 0x0101010101010101ULL >> 56;
  }
  return count - some;
}

template <typename Word>
size_t squeeze(const uint8_t *held, size_t count, const Word *numbers, Word *to) {
#ifdef CAIRN_HAS_AVX2
  if (cpu_has_avx2()) return squeeze_avx2(held, count, numbers, to);
#endif
  return squeeze_from(held, 0, count, numbers, to);
}
template <typename Word>
void spread(const uint8_t *held, size_t count, const Word *numbers, Word *to) {
#ifdef CAIRN_HAS_AVX2
  if (cpu_has_avx2()) return spread_avx2(held, count, numbers, to);
#endif
  spread_from(held, 0, count, numbers, to);
}

template size_t squeeze(const uint8_t *held, size_t count, const uint32_t *numbers, uint32_t *to);
template size_t squeeze(const uint8_t *held, size_t count, const uint64_t *numbers, uint64_t *to);
template void spread(const uint8_t *held, size_t count, const uint32_t *numbers, uint32_t *to);
template void spread(const uint8_t *held, size_t count, const uint64_t *numbers, uint64_t *to);

}  // namespace cairn::codec
