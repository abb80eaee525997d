#include "codec/array/bit_pack.h"

#include <algorithm>
#include <cstring>

#include "codec/array/bit_packer.h"
#include "codec/array/cpu.h"

#ifdef CAIRN_HAS_AVX2
#include <immintrin.h>
#endif

namespace cairn::codec {
namespace {

template <typename T>
CAIRN_BODY size_t pack_body(const T *numbers, const uint8_t *widths, size_t count, uint8_t *out) {
  BitPacker packer{out};
  size_t i = 0;
  if constexpr (sizeof(T) == 4) {
    // Two make at most a word.
    for (; i + 2 <= count; i += 2)
      packer.put(numbers[i] | static_cast<uint64_t>(numbers[i + 1]) << widths[i],
                 static_cast<uint64_t>(widths[i]) + widths[i + 1]);
  }
  for (; i < count; ++i) packer.put(numbers[i], widths[i]);
  return packer.end(out);
}

CAIRN_BODY uint64_t load(const uint8_t *at) {
  uint64_t word = 0;
  memcpy(&word, at, 8);
  return word;
}

template <typename T>
CAIRN_BODY T number_at(const uint8_t *packed, uint64_t bit, uint64_t width) {
  const uint8_t *at = packed + (bit >> 3);
  const uint64_t shift = bit & 7;
  uint64_t word = load(at) >> shift;
  if constexpr (sizeof(T) == 4) return static_cast<T>(word & ((uint64_t{1} << width) - 1));
  word |= (static_cast<uint64_t>(at[8]) << 1) << (63 - shift);
  return static_cast<T>(word & (((uint64_t{1} << (width & 63)) - 1) | (0 - (width >> 6))));
}

/// The bits that may be read eight bytes (and one) from: what is behind them is read from a copy.
template <typename T>
CAIRN_BODY void unpack_body(ByteView packed, const uint8_t *widths, size_t count, T *numbers) {
  uint64_t bit = 0;
  size_t i = 0;
  constexpr size_t kReach = sizeof(T) == 8 ? 9 : 8;
  const uint64_t safe = packed.size() < kReach ? 0 : (packed.size() - kReach + 1) * 8;  // bits where a read may begin
  constexpr size_t kStep = 16;
  constexpr uint64_t kMost = kStep * sizeof(T) * 8;
  for (; i + kStep <= count && bit + kMost < safe; i += kStep) {
    for (size_t k = 0; k < kStep; ++k) {
      numbers[i + k] = number_at<T>(packed.data(), bit, widths[i + k]);
      bit += widths[i + k];
    }
  }
  for (; i < count; ++i) {
    uint8_t bytes[kReach] = {};
    const size_t at = std::min(static_cast<size_t>(bit >> 3), packed.size());
    if (at != packed.size()) memcpy(bytes, packed.data() + at, std::min(kReach, packed.size() - at));
    numbers[i] = number_at<T>(bytes, bit & 7, widths[i]);
    bit += widths[i];
  }
}

#ifdef CAIRN_HAS_AVX2
/// Pairs are put together four at a time.
CAIRN_AVX2 size_t pack32_avx2(const uint32_t *numbers, const uint8_t *widths, size_t count, uint8_t *out) {
  BitPacker packer{out};
  size_t i = 0;
  const __m256i low = _mm256_set1_epi64x(0xffffffff);
  alignas(32) uint64_t pairs[8];
  alignas(32) uint64_t sums[8];
  for (; i + 16 <= count; i += 16) {
    for (size_t k = 0; k < 2; ++k) {
      const __m256i number = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(numbers + i + 8 * k));
      const __m256i width =
          _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(widths + i + 8 * k)));
      const __m256i even = _mm256_and_si256(width, low);
      const __m256i odd = _mm256_srli_epi64(number, 32);
      _mm256_store_si256(reinterpret_cast<__m256i *>(pairs + 4 * k),
                         _mm256_or_si256(_mm256_and_si256(number, low), _mm256_sllv_epi64(odd, even)));
      _mm256_store_si256(reinterpret_cast<__m256i *>(sums + 4 * k),
                         _mm256_add_epi64(even, _mm256_srli_epi64(width, 32)));
    }
    for (size_t k = 0; k < 8; ++k) packer.put(pairs[k], sums[k]);
  }
  for (; i < count; ++i) packer.put(numbers[i], widths[i]);
  return packer.end(out);
}
CAIRN_AVX2 size_t pack64_avx2(const uint64_t *numbers, const uint8_t *widths, size_t count, uint8_t *out) {
  return pack_body(numbers, widths, count, out);
}
CAIRN_AVX2 void unpack32_avx2(ByteView packed, const uint8_t *widths, size_t count, uint32_t *numbers) {
  unpack_body(packed, widths, count, numbers);
}
CAIRN_AVX2 void unpack64_avx2(ByteView packed, const uint8_t *widths, size_t count, uint64_t *numbers) {
  unpack_body(packed, widths, count, numbers);
}
#endif

}  // namespace

size_t pack_bits(const uint32_t *numbers, const uint8_t *widths, size_t count, uint8_t *out) {
#ifdef CAIRN_HAS_AVX2
  if (cpu_has_avx2()) return pack32_avx2(numbers, widths, count, out);
#endif
  return pack_body(numbers, widths, count, out);
}
size_t pack_bits(const uint64_t *numbers, const uint8_t *widths, size_t count, uint8_t *out) {
#ifdef CAIRN_HAS_AVX2
  if (cpu_has_avx2()) return pack64_avx2(numbers, widths, count, out);
#endif
  return pack_body(numbers, widths, count, out);
}

size_t packed_size(const uint8_t *widths, size_t count) {
  uint64_t bits = 0;
  for (size_t i = 0; i < count; ++i) bits += widths[i];
  return static_cast<size_t>((bits + 7) / 8);
}

void unpack_bits(ByteView packed, const uint8_t *widths, size_t count, uint32_t *numbers) {
#ifdef CAIRN_HAS_AVX2
  if (cpu_has_avx2()) return unpack32_avx2(packed, widths, count, numbers);
#endif
  unpack_body(packed, widths, count, numbers);
}
void unpack_bits(ByteView packed, const uint8_t *widths, size_t count, uint64_t *numbers) {
#ifdef CAIRN_HAS_AVX2
  if (cpu_has_avx2()) return unpack64_avx2(packed, widths, count, numbers);
#endif
  unpack_body(packed, widths, count, numbers);
}

}  // namespace cairn::codec
