#include "arrays/codec/shuffle.h"

#include <cstring>

#include "arrays/codec/cpu.h"

#ifdef CAIRN_HAS_AVX2
#include <immintrin.h>
#endif

namespace cairn::codec {
namespace {

// Both directions for the elements from `first`; the loops over bytes are left to the compiler.
template <size_t width>
void split_rest(const uint8_t *elements, size_t first, size_t count, uint8_t *planes) {
  for (size_t i = first; i < count; ++i) {
    for (size_t k = 0; k < width; ++k) planes[k * count + i] = elements[i * width + k];
  }
}
template <size_t width>
void join_rest(const uint8_t *planes, size_t first, size_t count, uint8_t *elements) {
  for (size_t i = first; i < count; ++i) {
    for (size_t k = 0; k < width; ++k) elements[i * width + k] = planes[k * count + i];
  }
}

#ifdef CAIRN_HAS_AVX2

/// 32 elements of 4 bytes into 4 planes: within lanes, then lanes put in order.
CAIRN_AVX2 size_t split4(const uint8_t *elements, size_t count, uint8_t *planes) {
  const __m256i gather = _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 0, 4, 8, 12, 1, 5, 9,
                                          13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  size_t i = 0;
  for (; i + 32 <= count; i += 32) {
    __m256i row[4];
    for (int r = 0; r < 4; ++r) {
      const auto *from = reinterpret_cast<const __m256i *>(elements + 4 * i + 32 * static_cast<size_t>(r));
      // Eight bytes of each plane: planes 0, 1, 2, 3 in the four quarters.
      row[r] = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(_mm256_loadu_si256(from), gather), order);
    }
    const __m256i low01 = _mm256_unpacklo_epi64(row[0], row[1]);   // plane 0, plane 2
    const __m256i high01 = _mm256_unpackhi_epi64(row[0], row[1]);  // plane 1, plane 3
    const __m256i low23 = _mm256_unpacklo_epi64(row[2], row[3]);
    const __m256i high23 = _mm256_unpackhi_epi64(row[2], row[3]);
    auto *to = planes + i;
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), _mm256_permute2x128_si256(low01, low23, 0x20));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + count), _mm256_permute2x128_si256(high01, high23, 0x20));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + 2 * count), _mm256_permute2x128_si256(low01, low23, 0x31));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + 3 * count), _mm256_permute2x128_si256(high01, high23, 0x31));
  }
  return i;
}

CAIRN_AVX2 size_t join4(const uint8_t *planes, size_t count, uint8_t *elements) {
  size_t i = 0;
  for (; i + 32 <= count; i += 32) {
    __m256i plane[4];
    for (size_t k = 0; k < 4; ++k)
      plane[k] = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(planes + k * count + i));
    const __m256i low01 = _mm256_unpacklo_epi8(plane[0], plane[1]);
    const __m256i high01 = _mm256_unpackhi_epi8(plane[0], plane[1]);
    const __m256i low23 = _mm256_unpacklo_epi8(plane[2], plane[3]);
    const __m256i high23 = _mm256_unpackhi_epi8(plane[2], plane[3]);
    const __m256i a = _mm256_unpacklo_epi16(low01, low23);    // 0..3, 16..19
    const __m256i b = _mm256_unpackhi_epi16(low01, low23);    // 4..7, 20..23
    const __m256i c = _mm256_unpacklo_epi16(high01, high23);  // 8..11, 24..27
    const __m256i d = _mm256_unpackhi_epi16(high01, high23);  // 12..15, 28..31
    auto *to = reinterpret_cast<__m256i *>(elements + 4 * i);
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(a, b, 0x20));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(c, d, 0x20));
    _mm256_storeu_si256(to + 2, _mm256_permute2x128_si256(a, b, 0x31));
    _mm256_storeu_si256(to + 3, _mm256_permute2x128_si256(c, d, 0x31));
  }
  return i;
}

/// 16 elements of 8 bytes into 8 planes, 16 bytes each.
CAIRN_AVX2 size_t split8(const uint8_t *elements, size_t count, uint8_t *planes) {
  const __m256i gather = _mm256_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15, 0, 8, 1, 9, 2, 10, 3,
                                          11, 4, 12, 5, 13, 6, 14, 7, 15);
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const auto *from = reinterpret_cast<const __m256i *>(elements + 8 * i);
    __m256i x[4];
    // A lane holds two elements as eight pairs of bytes; low lanes the even pairs of elements, high lanes the odd ones.
    for (int r = 0; r < 4; ++r) x[r] = _mm256_shuffle_epi8(_mm256_loadu_si256(from + r), gather);
    const __m256i a = _mm256_unpacklo_epi16(x[0], x[1]);  // pairs of x0, x1: planes 0..3
    const __m256i b = _mm256_unpackhi_epi16(x[0], x[1]);  // planes 4..7
    const __m256i c = _mm256_unpacklo_epi16(x[2], x[3]);
    const __m256i d = _mm256_unpackhi_epi16(x[2], x[3]);
    const __m256i e[4] = {_mm256_unpacklo_epi32(a, c), _mm256_unpackhi_epi32(a, c), _mm256_unpacklo_epi32(b, d),
                          _mm256_unpackhi_epi32(b, d)};  // two planes a lane; low: elements 0 1 4 5 8 9 12 13
    for (size_t k = 0; k < 4; ++k) {
      const __m256i both = _mm256_permute4x64_epi64(e[k], 0xd8);  // plane 2k: low and high lanes' elements, 2k + 1
      const __m128i even = _mm256_castsi256_si128(both);
      const __m128i odd = _mm256_extracti128_si256(both, 1);
      const __m128i order = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
      _mm_storeu_si128(reinterpret_cast<__m128i *>(planes + 2 * k * count + i), _mm_shuffle_epi8(even, order));
      _mm_storeu_si128(reinterpret_cast<__m128i *>(planes + (2 * k + 1) * count + i), _mm_shuffle_epi8(odd, order));
    }
  }
  return i;
}

CAIRN_AVX2 size_t join8(const uint8_t *planes, size_t count, uint8_t *elements) {
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    __m128i p[8];
    for (size_t k = 0; k < 8; ++k) p[k] = _mm_loadu_si128(reinterpret_cast<const __m128i *>(planes + k * count + i));
    for (int half = 0; half < 2; ++half) {
      __m128i pair[4];
      for (int k = 0; k < 4; ++k)
        pair[k] = half == 0 ? _mm_unpacklo_epi8(p[2 * k], p[2 * k + 1]) : _mm_unpackhi_epi8(p[2 * k], p[2 * k + 1]);
      const __m128i a = _mm_unpacklo_epi16(pair[0], pair[1]);
      const __m128i b = _mm_unpackhi_epi16(pair[0], pair[1]);
      const __m128i c = _mm_unpacklo_epi16(pair[2], pair[3]);
      const __m128i d = _mm_unpackhi_epi16(pair[2], pair[3]);
      auto *to = reinterpret_cast<__m128i *>(elements + 8 * i + 64 * static_cast<size_t>(half));
      _mm_storeu_si128(to, _mm_unpacklo_epi32(a, c));
      _mm_storeu_si128(to + 1, _mm_unpackhi_epi32(a, c));
      _mm_storeu_si128(to + 2, _mm_unpacklo_epi32(b, d));
      _mm_storeu_si128(to + 3, _mm_unpackhi_epi32(b, d));
    }
  }
  return i;
}

#endif

template <size_t width>
void split(const uint8_t *elements, size_t count, uint8_t *planes) {
  size_t first = 0;
#ifdef CAIRN_HAS_AVX2
  if constexpr (width == 4) first = cpu_has_avx2() ? split4(elements, count, planes) : 0;
  if constexpr (width == 8) first = cpu_has_avx2() ? split8(elements, count, planes) : 0;
#endif
  split_rest<width>(elements, first, count, planes);
}
template <size_t width>
void join(const uint8_t *planes, size_t count, uint8_t *elements) {
  size_t first = 0;
#ifdef CAIRN_HAS_AVX2
  if constexpr (width == 4) first = cpu_has_avx2() ? join4(planes, count, elements) : 0;
  if constexpr (width == 8) first = cpu_has_avx2() ? join8(planes, count, elements) : 0;
#endif
  join_rest<width>(planes, first, count, elements);
}

}  // namespace

void to_byte_planes(const uint8_t *elements, size_t count, size_t width, uint8_t *planes) {
  if (count == 0) return;
  switch (width) {
    case 2:
      return split<2>(elements, count, planes);
    case 4:
      return split<4>(elements, count, planes);
    case 8:
      return split<8>(elements, count, planes);
    default:
      memcpy(planes, elements, count * width);
  }
}

void from_byte_planes(const uint8_t *planes, size_t count, size_t width, uint8_t *elements) {
  if (count == 0) return;
  switch (width) {
    case 2:
      return join<2>(planes, count, elements);
    case 4:
      return join<4>(planes, count, elements);
    case 8:
      return join<8>(planes, count, elements);
    default:
      memcpy(elements, planes, count * width);
  }
}

}  // namespace cairn::codec
