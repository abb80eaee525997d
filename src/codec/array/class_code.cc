#include "codec/array/class_code.h"

#include <array>
#include <cstring>
#include <memory>

#include "codec/array/bit_packer.h"
#include "codec/array/huffman.h"

namespace cairn::codec {
namespace {

constexpr size_t kLanes = 4;
constexpr size_t kMaxContexts = 8;

/// The number of bits of a residual of that class.
constexpr uint32_t bits_of_class(uint32_t klass) {
  return klass < 4 ? static_cast<uint32_t>(std::bit_width(klass)) : (klass >> 2) + 2;
}

struct Contexts {
  size_t count = 1;
  std::array<uint8_t, kMaxContexts> first = {};  ///< the smallest number of bits of each; ascending, from 0
  /// By the class before.
  [[nodiscard]] std::array<uint8_t, 256> table() const {
    std::array<uint8_t, 256> of;
    for (uint32_t klass = 0; klass < 256; ++klass) {
      uint8_t context = 0;
      while (context + 1U < count && first[context + 1U] <= bits_of_class(klass)) ++context;
      of[klass] = context;
    }
    return of;
  }
};

using Histogram = std::array<uint32_t, 256>;
constexpr size_t kMaxBits = 66;

/// Cuts where each context has had its share.
Contexts choose_contexts(const Histogram *by_bits, size_t count) {
  Contexts contexts;
  size_t some = 0;
  for (size_t bits = 0; bits < kMaxBits; ++bits) {
    if (some * kMaxContexts >= count && contexts.count < kMaxContexts) {
      contexts.first[contexts.count++] = static_cast<uint8_t>(bits);
      some = 0;
    }
    for (const uint32_t n : by_bits[bits]) some += n;
  }
  if (some == 0 && contexts.count > 1) --contexts.count;
  return contexts;
}

size_t lane_size(size_t count) { return (count + kLanes - 1) / kLanes; }

/// A code, its length, and the width of what follows it.
struct Code {
  uint16_t bits;
  uint8_t length;
  uint8_t width;
};

template <typename Word>
CAIRN_BODY size_t put_lane(const uint8_t *classes, const Word *low, size_t count,
                           const std::array<std::array<Code, 256>, kMaxContexts> &codes,
                           const std::array<uint8_t, 256> &context_of, uint8_t *out) {
  BitPacker packer{out};
  const auto code_of = codes.data();
  const uint8_t *contexts = context_of.data();
  unsigned context = contexts[0];
  size_t i = 0;
  if constexpr (sizeof(Word) == 4) {
    for (; i + 2 <= count; i += 2) {
      const Code one = code_of[context][classes[i]];
      const Code two = code_of[contexts[classes[i]]][classes[i + 1]];
      context = contexts[classes[i + 1]];
      const uint64_t first = one.bits | static_cast<uint64_t>(low[i]) << one.length;
      const uint64_t second = two.bits | static_cast<uint64_t>(low[i + 1]) << two.length;
      const uint64_t width = uint64_t{one.length} + one.width;
      const uint64_t all = width + two.length + two.width;
      if (all <= 64) [[likely]] {
        packer.put(first | second << width, all);
      } else {
        packer.put(first, width);
        packer.put(second, all - width);
      }
    }
  }
  for (; i < count; ++i) {
    const Code code = code_of[context][classes[i]];
    context = contexts[classes[i]];
    packer.put(code.bits, code.length);
    packer.put(low[i], code.width);
  }
  return packer.end(out);
}

#ifdef CAIRN_HAS_AVX2
template <typename Word>
CAIRN_AVX2 size_t put_lane_avx2(const uint8_t *classes, const Word *low, size_t count,
                                const std::array<std::array<Code, 256>, kMaxContexts> &codes,
                                const std::array<uint8_t, 256> &context_of, uint8_t *out) {
  return put_lane(classes, low, count, codes, context_of, out);
}
#endif

template <typename Word>
bool write_any(const uint8_t *classes, const Word *low, size_t count, double least, uint8_t *room, Bytes *out) {
  const size_t lane = lane_size(count);
  const auto by_bits = std::make_unique<Histogram[]>(kMaxBits);
  std::array<uint8_t, 256> bits_of;
  for (uint32_t klass = 0; klass < 256; ++klass) bits_of[klass] = static_cast<uint8_t>(bits_of_class(klass));
  for (size_t at = 0; at < count; at += lane) {
    uint8_t before = 0;
    for (size_t i = at; i < std::min(count, at + lane); ++i) {
      ++by_bits[before][classes[i]];
      before = bits_of[classes[i]];
    }
  }
  const Contexts contexts = choose_contexts(by_bits.get(), count);
  std::array<std::array<Code, 256>, kMaxContexts> codes;
  Bytes front;
  front.push_back(static_cast<uint8_t>(contexts.count));
  for (size_t c = 1; c < contexts.count; ++c) front.push_back(contexts.first[c]);
  uint64_t bits = 0;
  for (size_t c = 0; c < contexts.count; ++c) {
    Histogram sum = {};
    const size_t end = c + 1 < contexts.count ? contexts.first[c + 1] : kMaxBits;
    for (size_t b = contexts.first[c]; b < end; ++b) {
      for (size_t klass = 0; klass < 256; ++klass) sum[klass] += by_bits[b][klass];
    }
    const HuffmanCode code = HuffmanCode::of(sum);
    code.write(&front);
    for (uint32_t klass = 0; klass < 256; ++klass) {
      bits += uint64_t{sum[klass]} * code.length[klass];
      codes[c][klass] = {code.bits[klass], code.length[klass], static_cast<uint8_t>(width_of_class(klass))};
    }
  }
  if (static_cast<double>(bits) < least * static_cast<double>(count)) return false;
  const std::array<uint8_t, 256> context_of = contexts.table();
  out->insert(out->end(), front.begin(), front.end());
  for (size_t at = 0; at < count; at += lane) {
    const size_t size = std::min(lane, count - at);
    size_t written = 0;
#ifdef CAIRN_HAS_AVX2
    if (cpu_has_avx2()) {
      written = put_lane_avx2(classes + at, low + at, size, codes, context_of, room);
    } else
#endif
    {
      written = put_lane(classes + at, low + at, size, codes, context_of, room);
    }
    uint8_t length[kMaxVarint];
    out->insert(out->end(), length, put_varint(length, written));
    out->insert(out->end(), room, room + written);
  }
  return true;
}

/// What the next bits of a lane mean.
struct Entry {
  uint8_t length;  ///< of the code
  uint8_t width;   ///< of what follows
  uint8_t high;    ///< what stands above that
  uint8_t next;    ///< context
};
using Table = std::array<std::array<Entry, kCodeTable>, kMaxContexts>;

void fill_table(const HuffmanCode &code, const std::array<uint8_t, 256> &context_of,
                std::array<Entry, kCodeTable> *table) {
  for (unsigned s = code.first; s <= code.last; ++s) {
    if (code.length[s] == 0 && code.symbols > 1) continue;
    const auto high = static_cast<uint8_t>(s < 4 ? s : (s & 3) | 4);
    const Entry entry{code.length[s], static_cast<uint8_t>(width_of_class(s)), high, context_of[s]};
    for (size_t at = code.bits[s]; at < kCodeTable; at += size_t{1} << code.length[s]) (*table)[at] = entry;
  }
}

struct Lane {
  const uint8_t *begin;
  size_t size;
  uint64_t bit = 0;
  uint32_t context = 0;

  /// Whether that many bytes may be read from the next bit on.
  [[nodiscard]] CAIRN_BODY bool has(size_t bytes) const { return (bit >> 3) + bytes <= size; }
};

/// The next 57 bits and more; near the end of a lane, zeros behind it.
template <bool near_end>
CAIRN_BODY uint64_t word_of(const Lane &lane, uint64_t bit) {
  uint64_t word = 0;
  if constexpr (near_end) {
    const size_t at = std::min(static_cast<size_t>(bit >> 3), lane.size);
    if (at != lane.size) memcpy(&word, lane.begin + at, std::min<size_t>(8, lane.size - at));
  } else {
    memcpy(&word, lane.begin + (bit >> 3), 8);
  }
  return word >> (bit & 7);
}

template <typename Word, bool near_end>
CAIRN_BODY Word next(Lane &lane, const Table &table) {
  uint64_t word = word_of<near_end>(lane, lane.bit);
  const Entry entry = table[lane.context][word & (kCodeTable - 1)];
  lane.context = entry.next;
  lane.bit += entry.length;
  if constexpr (sizeof(Word) == 4) {
    word >>= entry.length;  // 57 bits were there, and a code with all that follows it has at most 39
  } else {
    word = word_of<near_end>(lane, lane.bit);
    const uint64_t more = word_of<near_end>(lane, lane.bit + 32);
    word = (word & 0xffffffff) | more << 32;
  }
  const Word low = static_cast<Word>(word & ((uint64_t{1} << entry.width) - 1));
  lane.bit += entry.width;
  return (static_cast<Word>(entry.high) << entry.width) | low;
}

/// Bits that one residual takes at most, and bytes that eight of them may touch.
template <typename Word>
constexpr size_t kReach = (8 * (kMaxCode + 8 * sizeof(Word)) + 7) / 8 + 16;

template <typename Word>
CAIRN_BODY void get_lanes(std::array<Lane, kLanes> &lanes, const Table &table, Word *x, size_t count) {
  const size_t size = lane_size(count);
  Lane a = lanes[0];
  Lane b = lanes[1];
  Lane c = lanes[2];
  Lane d = lanes[3];
  size_t i = 0;
  // The last lane is the shortest.
  const size_t shortest = count > 3 * size ? count - 3 * size : 0;
  constexpr size_t reach = kReach<Word>;
  for (; i + 8 <= shortest && a.has(reach) && b.has(reach) && c.has(reach) && d.has(reach);) {
    for (const size_t end = i + 8; i < end; ++i) {
      x[i] = next<Word, false>(a, table);
      x[size + i] = next<Word, false>(b, table);
      x[2 * size + i] = next<Word, false>(c, table);
      x[3 * size + i] = next<Word, false>(d, table);
    }
  }
  lanes = {a, b, c, d};
  for (size_t k = 0; k < kLanes; ++k) {
    const size_t first = std::min(k * size, count);
    const size_t end = std::min(size, count - first);
    for (size_t at = i; at < end; ++at) x[first + at] = next<Word, true>(lanes[k], table);
  }
}

#ifdef CAIRN_HAS_AVX2
template <typename Word>
CAIRN_AVX2 void get_lanes_avx2(std::array<Lane, kLanes> &lanes, const Table &table, Word *x, size_t count) {
  get_lanes(lanes, table, x, count);
}
#endif

template <typename Word>
bool read_any(ByteReader &in, Word *x, size_t count) {
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
    if (!code.read(in) || !is_class<Word>(code.last)) return false;
    fill_table(code, context_of, &(*table)[c]);
  }
  std::array<Lane, kLanes> lanes = {};
  const size_t size = lane_size(count);
  for (size_t k = 0; k < kLanes && k * size < count; ++k) {
    const ByteView bytes = in.blob();
    if (in.failed()) return false;
    lanes[k] = {bytes.data(), bytes.size()};
    lanes[k].context = context_of[0];
  }
#ifdef CAIRN_HAS_AVX2
  if (cpu_has_avx2()) {
    get_lanes_avx2(lanes, *table, x, count);
  } else
#endif
  {
    get_lanes(lanes, *table, x, count);
  }
  return std::all_of(lanes.begin(), lanes.end(), [](const Lane &lane) { return (lane.bit + 7) / 8 == lane.size; });
}

}  // namespace

bool write_class_codes(const uint8_t *classes, const uint32_t *low, size_t count, double least, uint8_t *room,
                       Bytes *out) {
  return write_any(classes, low, count, least, room, out);
}
bool write_class_codes(const uint8_t *classes, const uint64_t *low, size_t count, double least, uint8_t *room,
                       Bytes *out) {
  return write_any(classes, low, count, least, room, out);
}
bool read_class_codes(ByteReader &in, uint32_t *residuals, size_t count) { return read_any(in, residuals, count); }
bool read_class_codes(ByteReader &in, uint64_t *residuals, size_t count) { return read_any(in, residuals, count); }

}  // namespace cairn::codec
