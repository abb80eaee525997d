#include "arrays/codec/bit_pack.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "arrays/codec/cpu.h"
#include "arrays/codec/permutations.h"

#ifdef CAIRN_HAS_AVX2
#include <immintrin.h>
#endif

namespace cairn::codec {
namespace {

template <typename Word>
constexpr uint32_t kBits = 8 * sizeof(Word);
constexpr size_t kBadBits = SIZE_MAX;
template <typename Word>
constexpr size_t kLanes = 32 / sizeof(Word);

/// The bits of each lane, and from that where its last number ends in its last word (1 to all bits of a word).
template <typename Word>
struct Totals {
  std::array<Word, kLanes<Word>> end = {};
  size_t words = 0;

  explicit Totals(const std::array<Word, kLanes<Word>> &bits) {
    for (size_t k = 0; k < kLanes<Word>; ++k) {
      end[k] = (bits[k] + kBits<Word> - 1) % kBits<Word> + 1;
      words += static_cast<size_t>(bits[k] / kBits<Word> + (bits[k] % kBits<Word> != 0 ? 1 : 0));
    }
  }
};

// Without vectors: what a number does to its lane, without a jump, since whether it fills a word cannot be foretold.
// Shifts by as many bits as a word has are split in two.

/// The lowest bits of a word, so many of them.
template <typename Word>
constexpr std::array<Word, kBits<Word> + 1> kLow = [] {
  std::array<Word, kBits<Word> + 1> low = {};
  for (size_t i = 1; i < low.size(); ++i) low[i] = static_cast<Word>(low[i - 1] << 1 | 1);
  return low;
}();

template <typename Word>
size_t pack_portable(const Word *numbers, const uint8_t *widths, size_t count, uint8_t *out) {
  constexpr size_t n = kLanes<Word>;
  constexpr uint32_t most = kBits<Word> - 1;
  const size_t whole = count - count % n;
  std::array<Word, n> bits = {};
  for (size_t i = 0; i < whole; i += n) {
    for (size_t k = 0; k < n; ++k) bits[k] += widths[i + k];
  }
  for (size_t i = whole; i < count; ++i) bits[i - whole] += widths[i];
  const Totals<Word> totals(bits);
  std::array<uint32_t, n> end;
  std::array<Word, n> word = {};
  for (size_t k = 0; k < n; ++k) end[k] = static_cast<uint32_t>(totals.end[k]);
  uint8_t *at = out + totals.words * sizeof(Word);
  // `write` writes what would be the complete word, and says where it ends.
  const auto put = [&](size_t i, size_t k, auto write) {
    const uint32_t first = end[k] - widths[i];
    // Its first bit is in the word before, or it is the first of this one: this one is complete.
    const uint32_t full = (first - 1) >> 31;
    write(static_cast<Word>(word[k] | numbers[i] >> ((0 - first) & most)), full);
    at -= full * sizeof(Word);
    const Word shifted = static_cast<Word>(numbers[i] << 1) << ((first - 1) & most);
    word[k] = (word[k] & (static_cast<Word>(full) - 1)) | shifted;
    end[k] = first + full * kBits<Word>;
  };
  const auto write_last = [&](Word complete, uint32_t full) {
    if (full != 0) memcpy(at - sizeof(Word), &complete, sizeof(Word));
  };
  size_t i = count;
  for (; i > whole; --i) put(i - 1, i - 1 - whole, write_last);
  // Where there is room before it, the word is written before it is known whether it is complete.
  for (; i > 0 && at - out >= static_cast<ptrdiff_t>(n * sizeof(Word)); i -= n) {
    for (size_t k = n; k-- > 0;) {
      put(i - n + k, k, [&](Word complete, uint32_t /*full*/) { memcpy(at - sizeof(Word), &complete, sizeof(Word)); });
    }
  }
  for (; i > 0; --i) put(i - 1, (i - 1) % n, write_last);
  return totals.words * sizeof(Word);
}

template <typename Word>
size_t unpack_portable(ByteView packed, const uint8_t *widths, size_t count, Word *numbers) {
  constexpr size_t n = kLanes<Word>;
  constexpr uint32_t most = kBits<Word> - 1;
  std::array<Word, n> word = {};
  std::array<uint32_t, n> used;  // at least 1
  used.fill(kBits<Word>);
  const uint8_t *at = packed.data();
  const uint8_t *const end = at + packed.size();
  const auto get = [&](size_t i, size_t k, Word next) {
    const uint32_t after = used[k] + widths[i];
    const uint32_t more = (kBits<Word> - after) >> 31;
    const Word number = static_cast<Word>(word[k] >> 1) >> (used[k] - 1) | next << ((0 - used[k]) & most);
    // What comes from a word that is not needed lies above the width.
    numbers[i] = number & kLow<Word>[widths[i]];
    const Word taken = Word(0) - static_cast<Word>(more);
    word[k] = (word[k] & ~taken) | (next & taken);
    used[k] = after - more * kBits<Word>;
    at += more * sizeof(Word);
  };
  size_t i = 0;
  for (; i + n <= count && end - at >= static_cast<ptrdiff_t>(n * sizeof(Word)); i += n) {
    for (size_t k = 0; k < n; ++k) {
      Word next;
      memcpy(&next, at, sizeof(Word));
      get(i + k, k, next);
    }
  }
  for (; i < count; ++i) {
    const size_t k = i % n;
    Word next = 0;
    if (used[k] + widths[i] > kBits<Word>) {
      if (end - at < static_cast<ptrdiff_t>(sizeof(Word))) return kBadBits;
      memcpy(&next, at, sizeof(Word));
    }
    get(i, k, next);
  }
  for (size_t k = 0; k < n; ++k) {
    if (word[k] >> 1 >> (used[k] - 1) != 0) return kBadBits;
  }
  return static_cast<size_t>(at - packed.data());
}

#ifdef CAIRN_HAS_AVX2

template <typename Word>
struct Vector;
template <>
struct Vector<uint32_t> {
  CAIRN_STEP __m256i widths(const uint8_t *at) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(at)));
  }
  CAIRN_STEP __m256i all(uint32_t x) { return _mm256_set1_epi32(static_cast<int>(x)); }
  CAIRN_STEP __m256i plus(__m256i a, __m256i b) { return _mm256_add_epi32(a, b); }
  CAIRN_STEP __m256i minus(__m256i a, __m256i b) { return _mm256_sub_epi32(a, b); }
  CAIRN_STEP __m256i left(__m256i a, __m256i by) { return _mm256_sllv_epi32(a, by); }
  CAIRN_STEP __m256i right(__m256i a, __m256i by) { return _mm256_srlv_epi32(a, by); }
  CAIRN_STEP __m256i above(__m256i a, __m256i b) { return _mm256_cmpgt_epi32(a, b); }
  CAIRN_STEP uint32_t set(__m256i a) { return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(a))); }
};
template <>
struct Vector<uint64_t> {
  CAIRN_STEP __m256i widths(const uint8_t *at) {
    int four = 0;
    memcpy(&four, at, 4);
    return _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four));
  }
  CAIRN_STEP __m256i all(uint32_t x) { return _mm256_set1_epi64x(x); }
  CAIRN_STEP __m256i plus(__m256i a, __m256i b) { return _mm256_add_epi64(a, b); }
  CAIRN_STEP __m256i minus(__m256i a, __m256i b) { return _mm256_sub_epi64(a, b); }
  CAIRN_STEP __m256i left(__m256i a, __m256i by) { return _mm256_sllv_epi64(a, by); }
  CAIRN_STEP __m256i right(__m256i a, __m256i by) { return _mm256_srlv_epi64(a, by); }
  CAIRN_STEP __m256i above(__m256i a, __m256i b) { return _mm256_cmpgt_epi64(a, b); }
  CAIRN_STEP uint32_t set(__m256i a) { return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(a))); }
};

CAIRN_STEP __m256i load(const void *at) { return _mm256_loadu_si256(static_cast<const __m256i *>(at)); }
CAIRN_STEP void store(void *at, __m256i x) { _mm256_storeu_si256(static_cast<__m256i *>(at), x); }
CAIRN_STEP __m256i permute(__m256i x, const std::array<uint8_t, 8> &order) {
  return _mm256_permutevar8x32_epi32(x, Vector<uint32_t>::widths(order.data()));
}

/// One number of each lane, from the last to the first. Shifts by negative numbers give zero, as those by all bits do.
template <typename Word>
struct Packing {
  using V = Vector<Word>;
  __m256i word;
  __m256i end;
  uint8_t *begin;
  uint8_t *at;

  CAIRN_AVX2 [[gnu::always_inline]] inline void put(__m256i number, __m256i width) {
    const __m256i first = V::minus(end, width);
    const __m256i next = V::plus(first, V::all(kBits<Word>));
    const __m256i full = V::above(V::all(1), first);
    const __m256i with = _mm256_or_si256(_mm256_or_si256(word, V::left(number, first)),
                                         V::right(number, V::minus(_mm256_setzero_si256(), first)));
    // Where it is not full, what goes into the word before is shifted out altogether.
    word = _mm256_or_si256(_mm256_andnot_si256(full, with), V::left(number, next));
    end = _mm256_blendv_epi8(first, next, full);
    const uint32_t set = V::set(full);
    const __m256i ordered = permute(with, kPermutations<Word>.to_end[set]);
    const size_t bytes = static_cast<size_t>(std::popcount(set)) * sizeof(Word);
    if (at - begin >= 32) [[likely]] {
      store(at - 32, ordered);
    } else {
      alignas(32) uint8_t eight[32];
      store(eight, ordered);
      memcpy(at - bytes, eight + 32 - bytes, bytes);
    }
    at -= bytes;
  }
};

template <typename Word>
CAIRN_AVX2 size_t pack_avx2(const Word *numbers, const uint8_t *widths, size_t count, uint8_t *out) {
  using V = Vector<Word>;
  constexpr size_t n = kLanes<Word>;
  const size_t whole = count - count % n;
  Word last[n] = {};
  uint8_t last_widths[n] = {};
  std::copy(numbers + whole, numbers + count, last);
  std::copy(widths + whole, widths + count, last_widths);
  __m256i sums = V::widths(last_widths);
  for (size_t i = 0; i < whole; i += n) sums = V::plus(sums, V::widths(widths + i));
  std::array<Word, n> bits;
  store(bits.data(), sums);
  const Totals<Word> totals(bits);
  const size_t size = totals.words * sizeof(Word);
  Packing<Word> packing{_mm256_setzero_si256(), load(totals.end.data()), out, out + size};
  if (whole < count) packing.put(load(last), V::widths(last_widths));
  for (size_t i = whole; i > 0; i -= n) packing.put(load(numbers + i - n), V::widths(widths + i - n));
  return size;
}

template <typename Word>
struct Unpacking {
  using V = Vector<Word>;
  __m256i word;
  __m256i used;

  /// Gives one number of each lane, from 32 bytes at `from`, and how many of those it took.
  CAIRN_AVX2 [[gnu::always_inline]] inline __m256i get(__m256i width, const uint8_t *from, size_t *bytes) {
    const __m256i most = V::all(kBits<Word>);
    const __m256i after = V::plus(used, width);
    const __m256i more = V::above(after, most);
    const uint32_t set = V::set(more);
    *bytes = static_cast<size_t>(std::popcount(set)) * sizeof(Word);
    const __m256i next = permute(load(from), kPermutations<Word>.from_front[set]);
    // What comes from a word that is not needed lies above the width.
    const __m256i number = _mm256_or_si256(V::right(word, used), V::left(next, V::minus(most, used)));
    word = _mm256_blendv_epi8(word, next, more);
    used = V::minus(after, _mm256_and_si256(more, most));
    return _mm256_andnot_si256(V::left(_mm256_set1_epi32(-1), width), number);
  }
};

template <typename Word>
CAIRN_AVX2 size_t unpack_avx2(ByteView packed, const uint8_t *widths, size_t count, Word *numbers) {
  using V = Vector<Word>;
  constexpr size_t n = kLanes<Word>;
  const uint8_t *at = packed.data();
  const uint8_t *const end = at + packed.size();
  Unpacking<Word> unpacking{_mm256_setzero_si256(), V::all(kBits<Word>)};
  size_t bytes = 0;
  size_t i = 0;
  for (; i + n <= count && end - at >= 32; i += n) {
    store(numbers + i, unpacking.get(V::widths(widths + i), at, &bytes));
    at += bytes;
  }
  for (; i < count; i += n) {  // the last words, and the last numbers
    const size_t some = std::min(n, count - i);
    uint8_t last_widths[n] = {};
    memcpy(last_widths, widths + i, some);
    alignas(32) uint8_t words[32] = {};
    const auto left = static_cast<size_t>(end - at);
    if (left > 0) memcpy(words, at, std::min<size_t>(left, 32));
    Word last[n];
    store(last, unpacking.get(V::widths(last_widths), words, &bytes));
    if (bytes > left) return kBadBits;
    at += bytes;
    std::copy(last, last + some, numbers + i);
  }
  const __m256i rest = V::right(unpacking.word, unpacking.used);
  return _mm256_testz_si256(rest, rest) != 0 ? static_cast<size_t>(at - packed.data()) : kBadBits;
}

#endif

}  // namespace

template <typename Word>
size_t pack_bits(const Word *numbers, const uint8_t *widths, size_t count, uint8_t *out) {
#ifdef CAIRN_HAS_AVX2
  if (cpu_has_avx2()) return pack_avx2(numbers, widths, count, out);
#endif
  return pack_portable(numbers, widths, count, out);
}
template <typename Word>
bool unpack_bits(ByteReader &in, const uint8_t *widths, size_t count, Word *numbers) {
  ByteReader ahead = in;
  const ByteView packed = ahead.raw(ahead.remaining());
  size_t size = 0;
#ifdef CAIRN_HAS_AVX2
  if (cpu_has_avx2()) {
    size = unpack_avx2(packed, widths, count, numbers);
  } else
#endif
  {
    size = unpack_portable(packed, widths, count, numbers);
  }
  if (size == kBadBits) return false;
  in.raw(size);
  return true;
}

template size_t pack_bits(const uint32_t *numbers, const uint8_t *widths, size_t count, uint8_t *out);
template size_t pack_bits(const uint64_t *numbers, const uint8_t *widths, size_t count, uint8_t *out);
template bool unpack_bits(ByteReader &in, const uint8_t *widths, size_t count, uint32_t *numbers);
template bool unpack_bits(ByteReader &in, const uint8_t *widths, size_t count, uint64_t *numbers);

}  // namespace cairn::codec
