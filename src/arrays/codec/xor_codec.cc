// The scheme of the paper on compressing PnetCDF output (III.C): an element XOR the one before it, the number of
// leading zeros of that in 5 bits (6 of 64), and the bits that remain. Here the counts of a block stand before its
// bits, so that neither has to wait for the other. "Before it" is what a sample says is best: a distance in elements
// (one step along an axis, which for interleaved coordinates is the point before), or the reference.
#include <algorithm>
#include <bit>
#include <cstring>

#include "arrays/codec/bit_pack.h"
#include "arrays/codec/codecs.h"
#include "arrays/codec/reused.h"
#include "arrays/codec/xor_kernels.h"

namespace cairn::codec {
namespace {

constexpr size_t kBlock = kXorBlock;
constexpr uint8_t kByDistance = 0;
constexpr uint8_t kByReference = 1;

constexpr size_t kRuns = 128;
constexpr size_t kRun = 32;

/// The bits that remain of some elements of the box, with this way.
template <typename T>
uint64_t bits_of(const T *values, size_t count, const T *reference, size_t distance) {
  uint64_t bits = 0;
  for (size_t run = 0; run < kRuns; ++run) {
    const size_t first = (count - std::min(count, kRun)) * run / (kRuns - 1);
    for (size_t i = first; i < std::min(first + kRun, count); ++i) {
      const T before = reference != nullptr ? reference[i] : i >= distance ? values[i - distance] : T(0);
      bits += static_cast<uint64_t>(std::bit_width(static_cast<T>((values[i] ^ before) | 1)));
    }
  }
  return bits;
}

struct Way {
  size_t distance = 1;  ///< 0 is the reference
  size_t bytes = 0;     ///< that the box should take with it
};
template <typename T>
Way choose(const T *values, size_t count, const Grid &grid) {
  const T *none = nullptr;
  Way way;
  uint64_t least = bits_of(values, count, none, 1);
  const auto consider = [&](size_t distance, uint64_t bits) {
    if (bits >= least) return;
    least = bits;
    way.distance = distance;
  };
  if (!grid.reference.empty())
    consider(0, bits_of(values, count, reinterpret_cast<const T *>(grid.reference.data()), 0));
  size_t distance = 1;
  for (size_t axis = grid.shape.size(); axis-- > 1;) {
    if (grid.shape[axis] == 1) continue;
    distance *= static_cast<size_t>(grid.shape[axis]);
    if (distance >= count) break;
    consider(distance, bits_of(values, count, none, distance));
  }
  const double each = static_cast<double>(least) / static_cast<double>(kRuns * std::min(count, kRun));
  way.bytes = static_cast<size_t>((each + kXorCountBits<T> + 0.05) / 8 * static_cast<double>(count));
  return way;
}

template <typename T>
void encode(const T *values, size_t count, const Grid &grid, Bytes *out) {
  const Way way = choose(values, count, grid);
  uint8_t front[1 + kMaxVarint] = {way.distance == 0 ? kByReference : kByDistance};
  out->insert(out->end(), front, way.distance == 0 ? front + 1 : put_varint(front + 1, way.distance));
  const T *reference = reinterpret_cast<const T *>(grid.reference.data());
  T rest[kBlock];
  T zeros[kBlock] = {};
  uint8_t widths[kBlock + kXorSlack];
  // A block is put together here, and not behind the others: those must not be filled with zeros first.
  uint8_t block[kBlock * kXorCountBits<T> / 8 + kXorSlack + kBlock * sizeof(T) + kPackSlack];
  if (out->capacity() - out->size() < way.bytes) out->reserve(out->size() + way.bytes);
  for (size_t at = 0; at < count; at += kBlock) {
    const size_t size = std::min(kBlock, count - at);
    if (way.distance == 0) {
      xor_differ(values + at, reference + at, size, rest, widths);
    } else {
      const size_t without = at >= way.distance ? 0 : std::min(size, way.distance - at);
      if (without > 0) xor_differ(values + at, zeros, without, rest, widths);
      if (without < size) {
        const T *now = values + at + without;
        xor_differ(now, now - way.distance, size - without, rest + without, widths + without);
      }
    }
    const size_t counts = put_xor_counts<T>(widths, size, block);
    const size_t bits = pack_bits(rest, widths, size, block + counts);
    out->insert(out->end(), block, block + counts + bits);
  }
}

template <typename T>
bool decode(ByteReader &in, const Grid &grid, T *values, size_t count) {
  const uint8_t way = in.byte();
  const uint64_t distance = way == kByDistance ? in.varint() : 0;
  if (in.failed() || way > kByReference || (way == kByReference && grid.reference.empty())) return false;
  if (way == kByDistance && (distance == 0 || (distance >= count && distance != 1))) return false;
  const T *reference = reinterpret_cast<const T *>(grid.reference.data());
  T rest[kBlock];
  uint8_t widths[kBlock + kXorSlack];
  uint8_t end[kBlock * kXorCountBits<T> / 8 + kXorSlack] = {};
  for (size_t at = 0; at < count; at += kBlock) {
    const size_t size = std::min(kBlock, count - at);
    const ByteView counts = in.raw((size + 7) / 8 * kXorCountBits<T>);
    if (in.failed()) return false;
    // Some bytes behind the counts are read with them.
    const bool apart = in.remaining() < kXorSlack;
    if (apart) memcpy(end, counts.data(), counts.size());
    get_xor_counts<T>(apart ? end : counts.data(), size, widths);
    if (!unpack_bits(in, widths, size, rest)) return false;
    if (way == kByReference) {
      for (size_t i = 0; i < size; ++i) values[at + i] = reference[at + i] ^ rest[i];
      continue;
    }
    const size_t without = at >= distance ? 0 : std::min(size, static_cast<size_t>(distance) - at);
    if (without > 0) memcpy(values + at, rest, without * sizeof(T));
    if (without < size) xor_join(values + at + without, rest + without, distance, size - without);
  }
  return in.at_end();
}

// The values of a caller may lie anywhere in memory.
template <typename T>
bool aligned(const void *at) {
  return reinterpret_cast<uintptr_t>(at) % alignof(T) == 0;
}

/// The bytes, or a copy in `room` if they are not aligned.
template <typename T>
ByteView aligned_bytes(ByteView bytes, Reused<T> *room) {
  if (aligned<T>(bytes.data())) return bytes;
  *room = Reused<T>(bytes.size() / sizeof(T));
  memcpy(room->get(), bytes.data(), bytes.size());
  return {reinterpret_cast<const uint8_t *>(room->get()), bytes.size()};
}

template <typename T>
bool encode_any(ByteView values, const Grid &grid, Bytes *out) {
  Reused<T> room;
  Reused<T> reference_room;
  const ByteView from = aligned_bytes(values, &room);
  const Grid usable{grid.element, grid.shape, aligned_bytes(grid.reference, &reference_room)};
  encode<T>(reinterpret_cast<const T *>(from.data()), values.size() / sizeof(T), usable, out);
  return true;
}

template <typename T>
bool decode_any(ByteView encoded, const Grid &grid, std::span<uint8_t> values) {
  const size_t count = values.size() / sizeof(T);
  const bool apart = !aligned<T>(values.data());
  const Reused<T> room = apart ? Reused<T>(count) : Reused<T>();
  Reused<T> reference_room;
  const Grid usable{grid.element, grid.shape, aligned_bytes(grid.reference, &reference_room)};
  T *to = apart ? room.get() : reinterpret_cast<T *>(values.data());
  ByteReader in(encoded);
  if (!decode<T>(in, usable, to, count)) return false;
  if (apart) memcpy(values.data(), to, values.size());
  return true;
}

}  // namespace

bool takes_xor(Element element) { return size_of(element) >= 4; }

size_t expected_xor(ByteView values, const Grid &grid) {
  // Values that are not aligned are not worth a copy here.
  const bool wide = size_of(grid.element) == 8;
  if (wide ? !aligned<uint64_t>(values.data()) || !aligned<uint64_t>(grid.reference.data())
           : !aligned<uint32_t>(values.data()) || !aligned<uint32_t>(grid.reference.data())) {
    return values.size() * 3 / 4;
  }
  return wide ? choose(reinterpret_cast<const uint64_t *>(values.data()), values.size() / 8, grid).bytes
              : choose(reinterpret_cast<const uint32_t *>(values.data()), values.size() / 4, grid).bytes;
}

bool encode_xor(ByteView values, const Grid &grid, const ArrayOptions & /*options*/, Bytes *out) {
  if (values.empty()) return true;
  if (!takes_xor(grid.element)) return false;
  return size_of(grid.element) == 4 ? encode_any<uint32_t>(values, grid, out) : encode_any<uint64_t>(values, grid, out);
}

bool decode_xor(ByteView encoded, const Grid &grid, std::span<uint8_t> values) {
  if (values.empty()) return encoded.empty();
  if (!takes_xor(grid.element)) return false;
  return size_of(grid.element) == 4 ? decode_any<uint32_t>(encoded, grid, values)
                                    : decode_any<uint64_t>(encoded, grid, values);
}

}  // namespace cairn::codec
