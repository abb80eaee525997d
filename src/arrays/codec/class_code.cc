#include "arrays/codec/class_code.h"

#include <array>
#include <cstring>
#include <memory>

#include "arrays/codec/bit_packer.h"
#include "arrays/codec/huffman.h"

namespace cairn::codec {
namespace {

constexpr size_t kLanes = 4;
constexpr size_t kMaxContexts = 8;

/// The number of bits of a residual of that class.
constexpr uint32_t bits_of_class(uint32_t klass) {
  return klass < 4 ? static_cast<uint32_t>(std::bit_width(klass)) : (klass >> 2) + 2;
}
/// The first class of that number of bits; 256 where there is none.
constexpr uint32_t class_of_bits(uint32_t bits) { return std::min(bits < 3 ? bits : 4 * (bits - 2), 256U); }

struct Contexts {
  size_t count = 1;
  std::array<uint8_t, kMaxContexts> first = {};  ///< the smallest number of bits of each; ascending, from 0

  /// By the class before.
  [[nodiscard]] std::array<uint8_t, 256> table() const {
    std::array<uint8_t, 256> of;
    uint8_t context = 0;
    for (uint32_t klass = 0; klass < 256; ++klass) {
      while (context + 1U < count && first[context + 1U] <= bits_of_class(klass)) ++context;
      of[klass] = context;
    }
    return of;
  }
};

using Histogram = std::array<uint32_t, 256>;
constexpr size_t kMaxBits = 66;

/// Cuts where each context has had its share.
Contexts choose_contexts(const Histogram &some) {
  std::array<uint64_t, kMaxBits> by_bits = {};
  uint64_t all = 0;
  for (uint32_t klass = 0; klass < 256; ++klass) {
    by_bits[bits_of_class(klass)] += some[klass];
    all += some[klass];
  }
  Contexts contexts;
  uint64_t share = 0;
  for (size_t bits = 0; bits < kMaxBits; ++bits) {
    if (share > 0 && share * kMaxContexts >= all && contexts.count < kMaxContexts) {
      contexts.first[contexts.count++] = static_cast<uint8_t>(bits);
      share = 0;
    }
    share += by_bits[bits];
  }
  if (share == 0 && contexts.count > 1) --contexts.count;
  return contexts;
}

size_t lane_size(size_t count) { return (count + kLanes - 1) / kLanes; }

/// The context of each class, by the one before it, times 256, and the class. The first of a lane has context 0.
CAIRN_BODY void place_body(const uint8_t *classes, size_t count, const Contexts &contexts, uint16_t *places) {
  std::array<uint8_t, kMaxContexts> from;
  from.fill(0xff);  // no class is as high
  for (size_t c = 1; c < contexts.count; ++c)
    from[c] = static_cast<uint8_t>(std::min(class_of_bits(contexts.first[c]), 255U));
  const size_t lane = lane_size(count);
  places[0] = classes[0];
  for (size_t i = 1; i < count; ++i) {
    const uint8_t before = classes[i - 1];
    uint16_t context = 0;
    for (size_t c = 1; c < kMaxContexts; ++c) context = static_cast<uint16_t>(context + (before >= from[c] ? 1 : 0));
    places[i] = static_cast<uint16_t>(context << 8 | classes[i]);
  }
  for (size_t at = lane; at < count; at += lane) places[at] = classes[at];
}

/// A code above its length, which so can be shifted by as it is.
CAIRN_BODY uint64_t add_code(uint64_t codes, uint32_t code) { return codes << (code & 63) | code >> 8; }

CAIRN_BODY size_t put_body(const uint16_t *places, size_t count, const uint32_t *codes, uint8_t *out) {
  BitPacker packer{out};
  size_t i = 0;
  for (; i + 6 <= count; i += 6) {  // six codes are at most 60 bits
    uint64_t all = 0;
    uint32_t lengths = 0;
    for (size_t k = 6; k-- > 0;) {
      const uint32_t code = codes[places[i + k]];
      all = add_code(all, code);
      lengths += code;
    }
    packer.put(all, lengths & 0xff);
  }
  for (; i < count; ++i) packer.put(codes[places[i]] >> 8, codes[places[i]] & 0xff);
  return packer.end(out);
}

/// What the next bits of a lane mean: the length of the code, the class, and where the context behind it begins, in
/// bytes of the table.
constexpr uint32_t entry(uint32_t length, uint32_t klass, uint32_t next) {
  return length | klass << 8 | static_cast<uint32_t>(next * kCodeTable * sizeof(uint32_t)) << 16;
}
using Table = std::array<std::array<uint32_t, kCodeTable>, kMaxContexts>;

void fill_table(const HuffmanCode &code, const std::array<uint8_t, 256> &context_of,
                std::array<uint32_t, kCodeTable> *table) {
  for (unsigned s = code.first; s <= code.last; ++s) {
    if (code.length[s] == 0 && code.symbols > 1) continue;
    const uint32_t each = entry(code.length[s], s, context_of[s]);
    for (size_t at = code.bits[s]; at < kCodeTable; at += size_t{1} << code.length[s]) (*table)[at] = each;
  }
}

struct Lane {
  const uint8_t *begin;
  size_t size;
  uint64_t bit = 0;
  uint32_t context = 0;  ///< where it begins in the table, in bytes
};

CAIRN_BODY uint32_t entry_at(const Table &table, uint32_t context, uint64_t word) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(table.data());
  uint32_t each = 0;
  memcpy(&each, bytes + context + (word & (kCodeTable - 1)) * sizeof(uint32_t), sizeof(uint32_t));
  return each;
}

constexpr size_t kAtOnce = 5;  // classes from one word: 57 bits are there, 50 at most are taken

CAIRN_BODY void get_some(Lane &lane, const Table &table, uint8_t *to) {
  uint64_t word = 0;
  memcpy(&word, lane.begin + (lane.bit >> 3), 8);
  word >>= lane.bit & 7;
  uint32_t context = lane.context;
  uint32_t lengths = 0;
  for (size_t k = 0; k < kAtOnce; ++k) {
    const uint32_t each = entry_at(table, context, word);
    to[k] = static_cast<uint8_t>(each >> 8);
    word >>= each & 63;
    lengths += each;
    context = each >> 16;
  }
  lane.context = context;
  lane.bit += lengths & 0xff;
}

CAIRN_BODY uint8_t get_last(Lane &lane, const Table &table) {
  const size_t at = std::min(static_cast<size_t>(lane.bit >> 3), lane.size);
  uint32_t word = 0;
  if (at != lane.size) memcpy(&word, lane.begin + at, std::min<size_t>(4, lane.size - at));
  const uint32_t each = entry_at(table, lane.context, word >> (lane.bit & 7));
  lane.bit += each & 0xff;
  lane.context = each >> 16;
  return static_cast<uint8_t>(each >> 8);
}

CAIRN_BODY void get_body(std::array<Lane, kLanes> &lanes, const Table &table, uint8_t *classes, size_t count) {
  const size_t size = lane_size(count);
  // The last lane is the shortest.
  const size_t shortest = count > 3 * size ? count - 3 * size : 0;
  const auto has_word = [](const Lane &lane) { return (lane.bit >> 3) + 8 <= lane.size; };
  Lane a = lanes[0];
  Lane b = lanes[1];
  Lane c = lanes[2];
  Lane d = lanes[3];
  size_t i = 0;
  for (; i + kAtOnce <= shortest && has_word(a) && has_word(b) && has_word(c) && has_word(d); i += kAtOnce) {
    get_some(a, table, classes + i);
    get_some(b, table, classes + size + i);
    get_some(c, table, classes + 2 * size + i);
    get_some(d, table, classes + 3 * size + i);
  }
  lanes = {a, b, c, d};
  for (size_t k = 0; k < kLanes; ++k) {
    const size_t first = std::min(k * size, count);
    const size_t end = std::min(size, count - first);
    for (size_t at = i; at < end; ++at) classes[first + at] = get_last(lanes[k], table);
  }
}

/// How often each class occurs in each context. Two counters, since one that was just written is not yet there to be
/// read.
void count_places(const uint16_t *places, size_t count, std::array<Histogram, kMaxContexts> *sums) {
  std::array<uint32_t, 256 *kMaxContexts> one = {};
  std::array<uint32_t, 256 *kMaxContexts> two = {};
  for (size_t i = 0; i + 2 <= count; i += 2) {
    ++one[places[i]];
    ++two[places[i + 1]];
  }
  if (count % 2 != 0) ++one[places[count - 1]];
  for (size_t c = 0; c < kMaxContexts; ++c) {
    for (size_t klass = 0; klass < 256; ++klass) (*sums)[c][klass] = one[c << 8 | klass] + two[c << 8 | klass];
  }
}

}  // namespace

bool write_class_codes(const uint8_t *classes, size_t count, const std::array<uint32_t, 256> &some, double least,
                       uint8_t *room, Bytes *out) {
  const Contexts contexts = choose_contexts(some);
  auto *places = reinterpret_cast<uint16_t *>(room);
  uint8_t *const packed = room + 2 * count;
  on_this_cpu<place_body>(classes, count, contexts, places);
  std::array<Histogram, kMaxContexts> sums;
  count_places(places, count, &sums);
  std::array<uint32_t, 256 * kMaxContexts> codes;
  Bytes front;
  front.push_back(static_cast<uint8_t>(contexts.count));
  for (size_t c = 1; c < contexts.count; ++c) front.push_back(contexts.first[c]);
  uint64_t bits = 0;
  for (size_t c = 0; c < contexts.count; ++c) {
    const HuffmanCode code = HuffmanCode::of(sums[c]);
    code.write(&front);
    for (size_t klass = 0; klass < 256; ++klass) {
      bits += uint64_t{sums[c][klass]} * code.length[klass];
      codes[c << 8 | klass] = code.length[klass] | static_cast<uint32_t>(code.bits[klass]) << 8;
    }
  }
  if (static_cast<double>(bits) < least * static_cast<double>(count)) return false;
  out->insert(out->end(), front.begin(), front.end());
  const size_t lane = lane_size(count);
  for (size_t at = 0; at < count; at += lane) {
    const size_t size = on_this_cpu<put_body>(places + at, std::min(lane, count - at), codes.data(), packed);
    uint8_t length[kMaxVarint];
    out->insert(out->end(), length, put_varint(length, size));
    out->insert(out->end(), packed, packed + size);
  }
  return true;
}

bool read_class_codes(ByteReader &in, uint8_t *classes, size_t count) {
  Contexts contexts;
  contexts.count = in.byte();
  if (contexts.count == 0 || contexts.count > kMaxContexts) return false;
  for (size_t c = 1; c < contexts.count; ++c) {
    contexts.first[c] = in.byte();
    if (contexts.first[c] <= contexts.first[c - 1]) return false;
  }
  const std::array<uint8_t, 256> context_of = contexts.table();
  const auto table = std::make_unique_for_overwrite<Table>();
  for (size_t c = 0; c < contexts.count; ++c) {
    HuffmanCode code;
    if (!code.read(in)) return false;
    fill_table(code, context_of, &(*table)[c]);
  }
  std::array<Lane, kLanes> lanes = {};
  const size_t size = lane_size(count);
  for (size_t k = 0; k < kLanes && k * size < count; ++k) {
    const ByteView bytes = in.blob();
    if (in.failed()) return false;
    lanes[k] = {bytes.data(), bytes.size()};
  }
  on_this_cpu<get_body>(lanes, *table, classes, count);
  return std::all_of(lanes.begin(), lanes.end(), [](const Lane &lane) { return (lane.bit + 7) / 8 == lane.size; });
}

}  // namespace cairn::codec
