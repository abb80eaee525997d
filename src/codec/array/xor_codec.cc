// The scheme of the paper on compressing PnetCDF output (III.C): an element XOR the one before it, the number of
// leading zeros of that in 5 bits (6 of 64), and the bits that remain. Here the counts of a block stand before its
// bits, so that neither has to wait for the other. "Before it" is what a sample says is best: a distance in elements
// (one step along an axis, which for interleaved coordinates is the point before), or the reference.
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "codec/array/bit_pack.h"
#include "codec/array/codecs.h"
#include "codec/array/cpu.h"

namespace cairn::codec {
namespace {

constexpr size_t kBlock = 4096;  // elements: all that a block needs stays in the first cache
constexpr uint8_t kByDistance = 0;
constexpr uint8_t kByReference = 1;

template <typename T>
constexpr unsigned kBits = sizeof(T) * 8;
template <typename T>
constexpr unsigned kCountBits = sizeof(T) == 4 ? 5 : 6;

/// Bits that remain behind the leading zeros; 1 for none, since all counts but the last are exact.
template <typename T>
CAIRN_BODY uint32_t remaining(T x) {
  if constexpr (sizeof(T) == 4) {
    // The exponent of a float, in a form that compilers put into vectors: conversions of 24 bits are exact.
    const uint32_t some = x | 1;
    const uint32_t large = 0U - static_cast<uint32_t>(some > 0xffffff);
    const auto exact = static_cast<int32_t>((some >> 8 & large) | (some & ~large));
    return (std::bit_cast<uint32_t>(static_cast<float>(exact)) >> 23) - 126U + (8 & large);
  } else {
    return 64U - static_cast<uint32_t>(std::countl_zero(x | 1));
  }
}

template <typename T>
CAIRN_BODY void differ_body(const T *__restrict now, const T *__restrict before, size_t count, T *__restrict rest,
                            uint8_t *__restrict widths) {
  for (size_t i = 0; i < count; ++i) rest[i] = now[i] ^ before[i];
  for (size_t i = 0; i < count; ++i) widths[i] = static_cast<uint8_t>(remaining(rest[i]));
}

/// Counts of eight elements make five (six) bytes.
template <typename T>
CAIRN_BODY size_t put_counts_body(const uint8_t *widths, size_t count, uint8_t *out) {
  uint8_t *at = out;
  constexpr unsigned n = kCountBits<T>;
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
CAIRN_BODY void get_counts_body(const uint8_t *packed, size_t count, uint8_t *widths) {
  constexpr unsigned n = kCountBits<T>;
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

/// now[i] ^= now[i - distance]; what lies before the first element is zero.
template <typename T>
CAIRN_BODY void join_body(T *now, const T *rest, size_t distance, size_t count) {
  if (distance == 1) {
    T last = now[-1];
    for (size_t i = 0; i < count; ++i) now[i] = last ^= rest[i];
    return;
  }
  if (distance == 3) {  // interleaved coordinates
    T a = now[-3];
    T b = now[-2];
    T c = now[-1];
    size_t i = 0;
    for (; i + 3 <= count; i += 3) {
      now[i] = a ^= rest[i];
      now[i + 1] = b ^= rest[i + 1];
      now[i + 2] = c ^= rest[i + 2];
    }
    if (i < count) now[i] = a ^ rest[i];
    if (i + 1 < count) now[i + 1] = b ^ rest[i + 1];
    return;
  }
  for (size_t at = 0; at < count; at += std::min(distance, kBlock)) {
    const size_t size = std::min({distance, kBlock, count - at});
    T *__restrict to = now + at;
    const T *__restrict from = now + at - distance;
    for (size_t i = 0; i < size; ++i) to[i] = from[i] ^ rest[at + i];
  }
}

template <typename T>
struct Portable {
  static void differ(const T *now, const T *before, size_t count, T *rest, uint8_t *widths) {
    differ_body(now, before, count, rest, widths);
  }
  static size_t put_counts(const uint8_t *widths, size_t count, uint8_t *out) {
    return put_counts_body<T>(widths, count, out);
  }
  static void get_counts(const uint8_t *packed, size_t count, uint8_t *widths) {
    get_counts_body<T>(packed, count, widths);
  }
  static void join(T *now, const T *rest, size_t distance, size_t count) { join_body(now, rest, distance, count); }
};
#ifdef CAIRN_HAS_AVX2
template <typename T>
struct Avx2 {
  CAIRN_AVX2 static void differ(const T *now, const T *before, size_t count, T *rest, uint8_t *widths) {
    differ_body(now, before, count, rest, widths);
  }
  CAIRN_AVX2 static size_t put_counts(const uint8_t *widths, size_t count, uint8_t *out) {
    return put_counts_body<T>(widths, count, out);
  }
  CAIRN_AVX2 static void get_counts(const uint8_t *packed, size_t count, uint8_t *widths) {
    get_counts_body<T>(packed, count, widths);
  }
  CAIRN_AVX2 static void join(T *now, const T *rest, size_t distance, size_t count) {
    join_body(now, rest, distance, count);
  }
};
#endif

/// The bits that remain of some elements of the box, with this way.
template <typename T>
uint64_t bits_of(const T *values, size_t count, const T *reference, size_t distance) {
  constexpr size_t kRuns = 128;
  constexpr size_t kRun = 32;
  uint64_t bits = 0;
  for (size_t run = 0; run < kRuns; ++run) {
    const size_t first = (count - std::min(count, kRun)) * run / (kRuns - 1);
    for (size_t i = first; i < std::min(first + kRun, count); ++i) {
      const T before = reference != nullptr ? reference[i] : i >= distance ? values[i - distance] : T(0);
      bits += remaining<T>(values[i] ^ before);
    }
  }
  return bits;
}

/// Distance 0 is the reference.
template <typename T>
size_t choose(const T *values, size_t count, const Grid &grid) {
  const T *reference = reinterpret_cast<const T *>(grid.reference.data());
  size_t best = 1;
  uint64_t least = bits_of(values, count, static_cast<const T *>(nullptr), 1);
  if (!grid.reference.empty() && bits_of(values, count, reference, 0) < least) {
    least = bits_of(values, count, reference, 0);
    best = 0;
  }
  size_t distance = 1;
  for (size_t axis = grid.shape.size(); axis-- > 1;) {
    if (grid.shape[axis] == 1) continue;
    distance *= static_cast<size_t>(grid.shape[axis]);
    if (distance >= count) break;
    const uint64_t bits = bits_of(values, count, static_cast<const T *>(nullptr), distance);
    if (bits < least) {
      least = bits;
      best = distance;
    }
  }
  return best;
}

template <typename T, typename Kernels>
void encode(const T *values, size_t count, const Grid &grid, Bytes *out) {
  const size_t distance = choose(values, count, grid);
  uint8_t front[1 + kMaxVarint] = {distance == 0 ? kByReference : kByDistance};
  out->insert(out->end(), front, distance == 0 ? front + 1 : put_varint(front + 1, distance));
  const T *reference = reinterpret_cast<const T *>(grid.reference.data());
  T rest[kBlock];
  T zeros[kBlock] = {};
  uint8_t widths[kBlock + 8];
  constexpr size_t kMost = kBlock * kCountBits<T> / 8 + 8 + kBlock * sizeof(T) + kPackSlack;
  out->reserve(out->size() + count * sizeof(T) / 2 + kMost);
  for (size_t at = 0; at < count; at += kBlock) {
    const size_t size = std::min(kBlock, count - at);
    if (distance == 0) {
      Kernels::differ(values + at, reference + at, size, rest, widths);
    } else {
      const size_t without = at >= distance ? 0 : std::min(size, distance - at);
      if (without > 0) Kernels::differ(values + at, zeros, without, rest, widths);
      if (without < size) {
        const T *now = values + at + without;
        Kernels::differ(now, now - distance, size - without, rest + without, widths + without);
      }
    }
    memset(widths + size, kBits<T>, 8);  // counts of 0 behind the last
    const size_t before = out->size();
    out->resize(before + kMost);
    const size_t counts = Kernels::put_counts(widths, size, out->data() + before);
    const size_t bits = pack_bits(rest, widths, size, out->data() + before + counts);
    out->resize(before + counts + bits);
  }
}

template <typename T, typename Kernels>
bool decode(ByteReader &in, const Grid &grid, T *values, size_t count) {
  const uint8_t way = in.byte();
  const uint64_t distance = way == kByDistance ? in.varint() : 0;
  if (in.failed() || way > kByReference || (way == kByReference && grid.reference.empty())) return false;
  if (way == kByDistance && (distance == 0 || (distance >= count && distance != 1))) return false;
  const T *reference = reinterpret_cast<const T *>(grid.reference.data());
  T rest[kBlock + 8];
  uint8_t widths[kBlock + 8];
  uint8_t end[kBlock * kCountBits<T> / 8 + 8];
  for (size_t at = 0; at < count; at += kBlock) {
    const size_t size = std::min(kBlock, count - at);
    const ByteView counts = in.raw((size + 7) / 8 * kCountBits<T>);
    if (in.failed()) return false;
    // Counts are read eight bytes at a time.
    if (in.remaining() < 8) memcpy(end, counts.data(), counts.size());
    Kernels::get_counts(in.remaining() < 8 ? end : counts.data(), size, widths);
    const ByteView packed = in.raw(packed_size(widths, size));
    if (in.failed()) return false;
    unpack_bits(packed, widths, size, rest);
    if (way == kByReference) {
      for (size_t i = 0; i < size; ++i) values[at + i] = reference[at + i] ^ rest[i];
      continue;
    }
    const size_t without = at >= distance ? 0 : std::min(size, static_cast<size_t>(distance) - at);
    if (without > 0) memcpy(values + at, rest, without * sizeof(T));
    if (without < size) Kernels::join(values + at + without, rest + without, distance, size - without);
  }
  return in.at_end();
}

// The values of a caller may lie anywhere in memory.
template <typename T>
bool aligned(const void *at) {
  return reinterpret_cast<uintptr_t>(at) % alignof(T) == 0;
}

template <typename T>
bool encode_any(ByteView values, const Grid &grid, Bytes *out) {
  const size_t count = values.size() / sizeof(T);
  if (!aligned<T>(values.data()) || !aligned<T>(grid.reference.data())) {
    const std::unique_ptr<T[]> copy(new T[2 * count]);
    memcpy(copy.get(), values.data(), values.size());
    Grid moved = grid;
    if (!grid.reference.empty()) {
      memcpy(copy.get() + count, grid.reference.data(), values.size());
      moved.reference = {reinterpret_cast<const uint8_t *>(copy.get() + count), values.size()};
    }
    return encode_any<T>({reinterpret_cast<const uint8_t *>(copy.get()), values.size()}, moved, out);
  }
  const T *from = reinterpret_cast<const T *>(values.data());
#ifdef CAIRN_HAS_AVX2
  if (cpu_has_avx2()) {
    encode<T, Avx2<T>>(from, count, grid, out);
    return true;
  }
#endif
  encode<T, Portable<T>>(from, count, grid, out);
  return true;
}

template <typename T>
bool decode_any(ByteView encoded, const Grid &grid, std::span<uint8_t> values) {
  const size_t count = values.size() / sizeof(T);
  if (!aligned<T>(values.data()) || !aligned<T>(grid.reference.data())) {
    const std::unique_ptr<T[]> copy(new T[2 * count]);
    Grid moved = grid;
    if (!grid.reference.empty()) {
      memcpy(copy.get() + count, grid.reference.data(), values.size());
      moved.reference = {reinterpret_cast<const uint8_t *>(copy.get() + count), values.size()};
    }
    if (!decode_any<T>(encoded, moved, {reinterpret_cast<uint8_t *>(copy.get()), values.size()})) return false;
    memcpy(values.data(), copy.get(), values.size());
    return true;
  }
  ByteReader in(encoded);
  T *to = reinterpret_cast<T *>(values.data());
#ifdef CAIRN_HAS_AVX2
  if (cpu_has_avx2()) return decode<T, Avx2<T>>(in, grid, to, count);
#endif
  return decode<T, Portable<T>>(in, grid, to, count);
}

}  // namespace

bool takes_xor(Element element) { return size_of(element) >= 4; }

bool encode_xor(ByteView values, const Grid &grid, const ArrayOptions & /*options*/, Bytes *out) {
  if (values.empty()) return true;
  switch (size_of(grid.element)) {
    case 4:
      return encode_any<uint32_t>(values, grid, out);
    case 8:
      return encode_any<uint64_t>(values, grid, out);
    default:
      return false;
  }
}

bool decode_xor(ByteView encoded, const Grid &grid, std::span<uint8_t> values) {
  if (values.empty()) return encoded.empty();
  switch (size_of(grid.element)) {
    case 4:
      return decode_any<uint32_t>(encoded, grid, values);
    case 8:
      return decode_any<uint64_t>(encoded, grid, values);
    default:
      return false;
  }
}

}  // namespace cairn::codec
