#include "arrays/codec/xor_kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "arrays/codec/cpu.h"
#include "arrays/codec/running.h"

#ifdef CAIRN_HAS_AVX2
#include <immintrin.h>
#endif

namespace cairn::codec {
namespace {

template <typename T>
constexpr unsigned kBits = sizeof(T) * 8;

template <typename T>
void differ_portable(const T *now, const T *before, size_t count, T *rest, uint8_t *widths) {
  for (size_t i = 0; i < count; ++i) {
    rest[i] = now[i] ^ before[i];
    widths[i] = static_cast<uint8_t>(std::bit_width(static_cast<T>(rest[i] | 1)));
  }
}

template <typename T>
CAIRN_BODY void join_body(T *now, const T *rest, size_t distance, size_t count) {
  join_running(now, rest, distance, count, [](T one, T other) { return one ^ other; });
}

/// Counts of eight elements make five (six) bytes.
template <typename T>
size_t put_counts_portable(const uint8_t *widths, size_t count, uint8_t *out) {
  uint8_t *at = out;
  constexpr unsigned n = kXorCountBits<T>;
  for (size_t i = 0; i < count; i += 8) {
    uint64_t x = 0;
    memcpy(&x, widths + i, 8);
    x = 0x0101010101010101ULL * kBits<T> - x;  // no byte borrows: widths are at most that
    constexpr uint64_t kPair = 0x00ff00ff00ff00ffULL;
    constexpr uint64_t kFour = 0x0000ffff0000ffffULL;
    x = (x & kPair) | (x & ~kPair) >> (8 - n);
    x = (x & kFour) | (x & ~kFour) >> (16 - 2 * n);
    x = (x & 0xffffffffULL) | (x >> 32) << (4 * n);
    memcpy(at, &x, 8);
    at += n;
  }
  return static_cast<size_t>(at - out);
}

template <typename T>
void get_counts_portable(const uint8_t *packed, size_t count, uint8_t *widths) {
  constexpr unsigned n = kXorCountBits<T>;
  for (size_t i = 0; i < count; i += 8, packed += n) {
    uint64_t x = 0;
    memcpy(&x, packed, 8);
    constexpr uint64_t kFour = (uint64_t{1} << 4 * n) - 1;
    x = (x & kFour) | (x >> 4 * n & kFour) << 32;
    constexpr uint64_t kTwo = ((uint64_t{1} << 2 * n) - 1) * 0x0000000100000001ULL;
    x = (x & kTwo) | (x & ~kTwo) << (16 - 2 * n);
    constexpr uint64_t kOne = ((uint64_t{1} << n) - 1) * 0x0001000100010001ULL;
    x = (x & kOne) | (x & ~kOne) << (8 - n);
    x = 0x0101010101010101ULL * kBits<T> - x;
    memcpy(widths + i, &x, 8);
  }
}

#ifdef CAIRN_HAS_AVX2
CAIRN_STEP __m256i load(const void *at) { return _mm256_loadu_si256(static_cast<const __m256i *>(at)); }
CAIRN_STEP void store(void *at, __m256i x) { _mm256_storeu_si256(static_cast<__m256i *>(at), x); }

/// Of numbers of 32 bits the bits below their leading zeros, plus 126; not less than 158 where that is 158; 0 of 0.
/// From the exponent of a float: bits far below the leading one are cleared, so that no rounding carries into it.
CAIRN_STEP __m256i exponents(__m256i x) {
  const __m256i few = _mm256_andnot_si256(_mm256_srli_epi32(x, 8), x);
  return _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(few)), 23);
}
/// The bits of 32 numbers, as bytes in order.
CAIRN_STEP __m256i bit_widths(__m256i a, __m256i b, __m256i c, __m256i d) {
  const __m256i ab = _mm256_packus_epi32(exponents(a), exponents(b));
  const __m256i cd = _mm256_packus_epi32(exponents(c), exponents(d));
  const __m256i all =
      _mm256_permutevar8x32_epi32(_mm256_packus_epi16(ab, cd), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  return _mm256_min_epu8(_mm256_subs_epu8(all, _mm256_set1_epi8(126)), _mm256_set1_epi8(32));
}

CAIRN_STEP __m256i differ_at(const void *now, const void *before, void *rest) {
  const __m256i x = _mm256_xor_si256(load(now), load(before));
  store(rest, x);
  return x;
}

CAIRN_AVX2 size_t differ_avx2(const uint32_t *now, const uint32_t *before, size_t count, uint32_t *rest,
                              uint8_t *widths) {
  size_t i = 0;
  for (; i + 32 <= count; i += 32) {
    const __m256i a = differ_at(now + i, before + i, rest + i);
    const __m256i b = differ_at(now + i + 8, before + i + 8, rest + i + 8);
    const __m256i c = differ_at(now + i + 16, before + i + 16, rest + i + 16);
    const __m256i d = differ_at(now + i + 24, before + i + 24, rest + i + 24);
    store(widths + i, _mm256_max_epu8(bit_widths(a, b, c, d), _mm256_set1_epi8(1)));
  }
  return i;
}

/// Of 16 numbers of 64 bits, in 16 bits each: from those of their halves.
CAIRN_STEP __m256i wide_widths(const uint64_t *now, const uint64_t *before, uint64_t *rest) {
  const __m256i a = differ_at(now, before, rest);
  const __m256i b = differ_at(now + 4, before + 4, rest + 4);
  const __m256i c = differ_at(now + 8, before + 8, rest + 8);
  const __m256i d = differ_at(now + 12, before + 12, rest + 12);
  const __m256i halves = bit_widths(a, b, c, d);
  const __m256i low = _mm256_and_si256(halves, _mm256_set1_epi16(0xff));
  const __m256i high = _mm256_srli_epi16(halves, 8);
  const __m256i some = _mm256_cmpgt_epi16(high, _mm256_setzero_si256());
  return _mm256_max_epi16(low, _mm256_and_si256(some, _mm256_add_epi16(high, _mm256_set1_epi16(32))));
}

CAIRN_AVX2 size_t differ_avx2(const uint64_t *now, const uint64_t *before, size_t count, uint64_t *rest,
                              uint8_t *widths) {
  size_t i = 0;
  for (; i + 32 <= count; i += 32) {
    const __m256i a = wide_widths(now + i, before + i, rest + i);
    const __m256i b = wide_widths(now + i + 16, before + i + 16, rest + i + 16);
    const __m256i all = _mm256_permute4x64_epi64(_mm256_packus_epi16(a, b), 0xd8);
    store(widths + i, _mm256_max_epu8(all, _mm256_set1_epi8(1)));
  }
  return i;
}

/// Of each part of 128 bits the bytes of `order`.
CAIRN_STEP __m256i both_parts(__m128i order) { return _mm256_broadcastsi128_si256(order); }

template <typename T>
CAIRN_AVX2 size_t put_counts_avx2(const uint8_t *widths, size_t count, uint8_t *out) {
  constexpr int n = kXorCountBits<T>;
  uint8_t *at = out;
  const __m256i bits = _mm256_set1_epi8(static_cast<char>(kBits<T>));
  const __m256i two = _mm256_set1_epi16(static_cast<short>(1 | 1 << (8 + n)));
  const __m256i four = _mm256_set1_epi32(1 | 1 << (16 + 2 * n));
  for (size_t i = 0; i < count; i += 32) {
    const __m256i counts = _mm256_sub_epi8(bits, load(widths + i));
    __m256i x = _mm256_madd_epi16(_mm256_maddubs_epi16(counts, two), four);  // four counts in each 32 bits
    if constexpr (n == 5) {
      const __m256i low = _mm256_and_si256(x, _mm256_set1_epi64x(0xfffff));
      const __m256i high = _mm256_slli_epi64(_mm256_srli_epi64(x, 32), 20);
      x = _mm256_shuffle_epi8(_mm256_or_si256(low, high),
                              both_parts(_mm_setr_epi8(0, 1, 2, 3, 4, 8, 9, 10, 11, 12, -1, -1, -1, -1, -1, -1)));
    } else {
      x = _mm256_shuffle_epi8(x, both_parts(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1)));
    }
    _mm_storeu_si128(reinterpret_cast<__m128i *>(at), _mm256_castsi256_si128(x));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(at + 2 * n), _mm256_extracti128_si256(x, 1));
    at += 4 * n;
  }
  return (count + 7) / 8 * n;
}

/// The counts of eight elements at `a` and of eight at `b`, in 16 bits each.
template <typename T>
CAIRN_STEP __m256i sixteen_counts(const uint8_t *a, const uint8_t *b) {
  const __m256i x =
      _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i *>(a))),
                              _mm_loadu_si128(reinterpret_cast<const __m128i *>(b)), 1);
  // The two bytes in which each count is, moved up until nothing is above it.
  if constexpr (kXorCountBits<T> == 5) {
    const __m256i pairs =
        _mm256_shuffle_epi8(x, both_parts(_mm_setr_epi8(0, 1, 0, 1, 1, 2, 1, 2, 2, 3, 3, 4, 3, 4, 4, 5)));
    const __m256i up = both_parts(_mm_setr_epi16(1 << 11, 1 << 6, 1 << 9, 1 << 4, 1 << 7, 1 << 10, 1 << 5, 1 << 8));
    return _mm256_srli_epi16(_mm256_mullo_epi16(pairs, up), 11);
  } else {
    const __m256i pairs =
        _mm256_shuffle_epi8(x, both_parts(_mm_setr_epi8(0, 1, 0, 1, 1, 2, 2, 3, 3, 4, 3, 4, 4, 5, 5, 6)));
    const __m256i up = both_parts(_mm_setr_epi16(1 << 10, 1 << 4, 1 << 6, 1 << 8, 1 << 10, 1 << 4, 1 << 6, 1 << 8));
    return _mm256_srli_epi16(_mm256_mullo_epi16(pairs, up), 10);
  }
}

template <typename T>
CAIRN_AVX2 void get_counts_avx2(const uint8_t *packed, size_t count, uint8_t *widths) {
  constexpr size_t n = kXorCountBits<T>;
  const __m256i bits = _mm256_set1_epi8(static_cast<char>(kBits<T>));
  for (size_t i = 0; i < count; i += 32, packed += 4 * n) {
    const __m256i counts =
        _mm256_packus_epi16(sixteen_counts<T>(packed, packed + 2 * n), sixteen_counts<T>(packed + n, packed + 3 * n));
    store(widths + i, _mm256_sub_epi8(bits, counts));
  }
}
#endif

}  // namespace

template <typename T>
void xor_differ(const T *now, const T *before, size_t count, T *rest, uint8_t *widths) {
  size_t done = 0;
#ifdef CAIRN_HAS_AVX2
  if (cpu_has_avx2()) done = differ_avx2(now, before, count, rest, widths);
#endif
  differ_portable(now + done, before + done, count - done, rest + done, widths + done);
}
template <typename T>
void xor_join(T *now, const T *rest, size_t distance, size_t count) {
  on_this_cpu<join_body<T>>(now, rest, distance, count);
}
template <typename T>
size_t put_xor_counts(uint8_t *widths, size_t count, uint8_t *out) {
  memset(widths + count, static_cast<int>(kBits<T>), kXorSlack);
#ifdef CAIRN_HAS_AVX2
  if (cpu_has_avx2()) return put_counts_avx2<T>(widths, count, out);
#endif
  return put_counts_portable<T>(widths, count, out);
}
template <typename T>
void get_xor_counts(const uint8_t *packed, size_t count, uint8_t *widths) {
#ifdef CAIRN_HAS_AVX2
  if (cpu_has_avx2()) return get_counts_avx2<T>(packed, count, widths);
#endif
  get_counts_portable<T>(packed, count, widths);
}

template void xor_differ(const uint32_t *, const uint32_t *, size_t count, uint32_t *rest, uint8_t *widths);
template void xor_differ(const uint64_t *, const uint64_t *, size_t count, uint64_t *rest, uint8_t *widths);
template void xor_join(uint32_t *now, const uint32_t *rest, size_t distance, size_t count);
template void xor_join(uint64_t *now, const uint64_t *rest, size_t distance, size_t count);
template size_t put_xor_counts<uint32_t>(uint8_t *widths, size_t count, uint8_t *out);
template size_t put_xor_counts<uint64_t>(uint8_t *widths, size_t count, uint8_t *out);
template void get_xor_counts<uint32_t>(const uint8_t *packed, size_t count, uint8_t *widths);
template void get_xor_counts<uint64_t>(const uint8_t *packed, size_t count, uint8_t *widths);

}  // namespace cairn::codec
