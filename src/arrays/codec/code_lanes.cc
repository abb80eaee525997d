#include "arrays/codec/code_lanes.h"

#include <algorithm>
#include <cstring>

#include "arrays/codec/bit_packer.h"

namespace cairn::codec {
namespace {

template <typename Place>
CAIRN_BODY size_t put_body(const Place *places, size_t count, const uint32_t *codes, uint8_t *out) {
  BitPacker packer{out};
  size_t i = 0;
  for (; i + 6 <= count; i += 6) {  // six codes are at most 60 bits
    uint64_t all = 0;
    uint32_t lengths = 0;
    for (size_t k = 6; k-- > 0;) {
      const uint32_t code = codes[places[i + k]];
      all = all << (code & 63) | code >> 8;
      lengths += code;
    }
    packer.put(all, lengths & 0xff);
  }
  for (; i < count; ++i) packer.put(codes[places[i]] >> 8, codes[places[i]] & 0xff);
  return packer.end(out);
}

struct Lane {
  const uint8_t *begin;
  size_t size;
  uint64_t bit = 0;
  uint32_t context = 0;  ///< where it begins in the table, in bytes
};

CAIRN_BODY uint32_t entry_at(const CodeTable *tables, uint32_t context, uint64_t word) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(tables);
  uint32_t each = 0;
  memcpy(&each, bytes + context + (word & (kCodeTable - 1)) * sizeof(uint32_t), sizeof(uint32_t));
  return each;
}

constexpr size_t kAtOnce = 5;  // symbols from one word: 57 bits are there, 50 at most are taken

CAIRN_BODY void get_some(Lane &lane, const CodeTable *tables, uint8_t *to) {
  uint64_t word = 0;
  memcpy(&word, lane.begin + (lane.bit >> 3), 8);
  word >>= lane.bit & 7;
  uint32_t context = lane.context;
  uint32_t lengths = 0;
  for (size_t k = 0; k < kAtOnce; ++k) {
    const uint32_t each = entry_at(tables, context, word);
    to[k] = static_cast<uint8_t>(each >> 8);
    word >>= each & 63;
    lengths += each;
    context = each >> 16;
  }
  lane.context = context;
  lane.bit += lengths & 0xff;
}

CAIRN_BODY uint8_t get_last(Lane &lane, const CodeTable *tables) {
  const size_t at = std::min(static_cast<size_t>(lane.bit >> 3), lane.size);
  uint32_t word = 0;
  if (at != lane.size) memcpy(&word, lane.begin + at, std::min<size_t>(4, lane.size - at));
  const uint32_t each = entry_at(tables, lane.context, word >> (lane.bit & 7));
  lane.bit += each & 0xff;
  lane.context = each >> 16;
  return static_cast<uint8_t>(each >> 8);
}

CAIRN_BODY void get_body(std::array<Lane, kCodeLanes> &lanes, const CodeTable *tables, uint8_t *symbols, size_t count) {
  const size_t size = code_lane_size(count);
  // The last lane is the shortest.
  const size_t shortest = count > 3 * size ? count - 3 * size : 0;
  const auto has_word = [](const Lane &lane) { return (lane.bit >> 3) + 8 <= lane.size; };
  Lane a = lanes[0];
  Lane b = lanes[1];
  Lane c = lanes[2];
  Lane d = lanes[3];
  size_t i = 0;
  for (; i + kAtOnce <= shortest && has_word(a) && has_word(b) && has_word(c) && has_word(d); i += kAtOnce) {
    get_some(a, tables, symbols + i);
    get_some(b, tables, symbols + size + i);
    get_some(c, tables, symbols + 2 * size + i);
    get_some(d, tables, symbols + 3 * size + i);
  }
  lanes = {a, b, c, d};
  for (size_t k = 0; k < kCodeLanes; ++k) {
    const size_t first = std::min(k * size, count);
    const size_t end = std::min(size, count - first);
    for (size_t at = i; at < end; ++at) symbols[first + at] = get_last(lanes[k], tables);
  }
}

}  // namespace

void lay_out(const HuffmanCode &code, uint32_t *codes) {
  for (size_t s = 0; s < 256; ++s) codes[s] = code.length[s] | static_cast<uint32_t>(code.bits[s]) << 8;
}

template <typename Place>
void write_code_lanes(const Place *places, size_t count, const uint32_t *codes, uint8_t *room, Bytes *out) {
  const size_t lane = code_lane_size(count);
  for (size_t at = 0; at < count; at += lane) {
    const size_t size = on_this_cpu<put_body<Place>>(places + at, std::min(lane, count - at), codes, room);
    uint8_t length[kMaxVarint];
    out->insert(out->end(), length, put_varint(length, size));
    out->insert(out->end(), room, room + size);
  }
}

void fill_table(const HuffmanCode &code, const std::array<uint8_t, 256> &context_of, CodeTable *table) {
  for (unsigned s = code.first; s <= code.last; ++s) {
    if (code.length[s] == 0 && code.symbols > 1) continue;
    const auto next = static_cast<uint32_t>(context_of[s] * sizeof(CodeTable));
    const uint32_t each = code.length[s] | s << 8 | next << 16;
    for (size_t at = code.bits[s]; at < kCodeTable; at += size_t{1} << code.length[s]) (*table)[at] = each;
  }
}

bool read_code_lanes(ByteReader &in, const CodeTable *tables, uint8_t *symbols, size_t count) {
  std::array<Lane, kCodeLanes> lanes = {};
  const size_t size = code_lane_size(count);
  for (size_t k = 0; k < kCodeLanes && k * size < count; ++k) {
    const ByteView bytes = in.blob();
    if (in.failed()) return false;
    lanes[k] = {bytes.data(), bytes.size()};
  }
  on_this_cpu<get_body>(lanes, tables, symbols, count);
  return std::all_of(lanes.begin(), lanes.end(), [](const Lane &lane) { return (lane.bit + 7) / 8 == lane.size; });
}

template void write_code_lanes(const uint8_t *, size_t, const uint32_t *, uint8_t *, Bytes *);
template void write_code_lanes(const uint16_t *, size_t, const uint32_t *, uint8_t *, Bytes *);

}  // namespace cairn::codec
