#include "arrays/codec/byte_code.h"

#include <algorithm>
#include <array>

#include "arrays/codec/bit_packer.h"
#include "arrays/codec/huffman.h"

namespace cairn::codec {
namespace {

constexpr size_t kLanes = 4;
size_t lane_size(size_t count) { return (count + kLanes - 1) / kLanes; }

/// Codes stand above their lengths, which so can be shifted by as they are.
CAIRN_BODY size_t put_body(const uint8_t *plain, size_t count, const uint32_t *codes, uint8_t *out) {
  BitPacker packer{out};
  size_t i = 0;
  for (; i + 6 <= count; i += 6) {  // six codes are at most 60 bits
    uint64_t all = 0;
    uint32_t lengths = 0;
    for (size_t k = 6; k-- > 0;) {
      const uint32_t code = codes[plain[i + k]];
      all = all << (code & 63) | code >> 8;
      lengths += code;
    }
    packer.put(all, lengths & 0xff);
  }
  for (; i < count; ++i) packer.put(codes[plain[i]] >> 8, codes[plain[i]] & 0xff);
  return packer.end(out);
}

/// By the next bits: a byte above the length of its code.
using Table = std::array<uint16_t, kCodeTable>;

struct Lane {
  const uint8_t *begin;
  size_t size;
  uint64_t bit = 0;
};

constexpr size_t kAtOnce = 5;  // bytes from one word: 57 bits are there, 50 at most are taken

CAIRN_BODY void get_some(Lane &lane, const Table &table, uint8_t *to) {
  uint64_t word = 0;
  memcpy(&word, lane.begin + (lane.bit >> 3), 8);
  word >>= lane.bit & 7;
  uint32_t lengths = 0;
  for (size_t k = 0; k < kAtOnce; ++k) {
    const uint32_t entry = table[word & (kCodeTable - 1)];
    to[k] = static_cast<uint8_t>(entry >> 8);
    word >>= entry & 63;
    lengths += entry;
  }
  lane.bit += lengths & 0xff;
}

CAIRN_BODY uint8_t get_last(Lane &lane, const Table &table) {
  const size_t at = std::min(static_cast<size_t>(lane.bit >> 3), lane.size);
  uint32_t word = 0;
  if (at != lane.size) memcpy(&word, lane.begin + at, std::min<size_t>(4, lane.size - at));
  const uint32_t entry = table[word >> (lane.bit & 7) & (kCodeTable - 1)];
  lane.bit += entry & 0xff;
  return static_cast<uint8_t>(entry >> 8);
}

CAIRN_BODY void get_body(std::array<Lane, kLanes> &lanes, const Table &table, std::span<uint8_t> plain) {
  const size_t size = lane_size(plain.size());
  const size_t shortest = plain.size() > 3 * size ? plain.size() - 3 * size : 0;
  const auto has_word = [](const Lane &lane) { return (lane.bit >> 3) + 8 <= lane.size; };
  size_t i = 0;
  Lane a = lanes[0];
  Lane b = lanes[1];
  Lane c = lanes[2];
  Lane d = lanes[3];
  uint8_t *to = plain.data();
  for (; i + kAtOnce <= shortest && has_word(a) && has_word(b) && has_word(c) && has_word(d); i += kAtOnce) {
    get_some(a, table, to + i);
    get_some(b, table, to + size + i);
    get_some(c, table, to + 2 * size + i);
    get_some(d, table, to + 3 * size + i);
  }
  lanes = {a, b, c, d};
  for (size_t k = 0; k < kLanes; ++k) {
    const size_t first = std::min(k * size, plain.size());
    const size_t end = std::min(size, plain.size() - first);
    for (size_t at = i; at < end; ++at) to[first + at] = get_last(lanes[k], table);
  }
}

}  // namespace

void write_byte_codes(ByteView plain, uint8_t *room, Bytes *out) {
  // Four counters, since one that was just written is not yet there to be read.
  std::array<std::array<uint32_t, 256>, 4> counts = {};
  size_t i = 0;
  for (; i + 4 <= plain.size(); i += 4) {
    ++counts[0][plain[i]];
    ++counts[1][plain[i + 1]];
    ++counts[2][plain[i + 2]];
    ++counts[3][plain[i + 3]];
  }
  for (; i < plain.size(); ++i) ++counts[0][plain[i]];
  for (size_t s = 0; s < 256; ++s) counts[0][s] += counts[1][s] + counts[2][s] + counts[3][s];
  const HuffmanCode code = HuffmanCode::of(counts[0]);
  code.write(out);
  std::array<uint32_t, 256> codes;
  for (size_t s = 0; s < 256; ++s) codes[s] = code.length[s] | static_cast<uint32_t>(code.bits[s]) << 8;
  const size_t lane = lane_size(plain.size());
  for (size_t at = 0; at < plain.size(); at += lane) {
    const size_t size = on_this_cpu<put_body>(plain.data() + at, std::min(lane, plain.size() - at), codes.data(), room);
    uint8_t length[kMaxVarint];
    out->insert(out->end(), length, put_varint(length, size));
    out->insert(out->end(), room, room + size);
  }
}

bool read_byte_codes(ByteReader &in, std::span<uint8_t> plain) {
  HuffmanCode code;
  if (!code.read(in)) return false;
  Table table = {};
  for (unsigned s = code.first; s <= code.last; ++s) {
    if (code.length[s] == 0 && code.symbols > 1) continue;
    for (size_t at = code.bits[s]; at < kCodeTable; at += size_t{1} << code.length[s])
      table[at] = static_cast<uint16_t>(code.length[s] | s << 8);
  }
  std::array<Lane, kLanes> lanes = {};
  const size_t size = lane_size(plain.size());
  for (size_t k = 0; k < kLanes && k * size < plain.size(); ++k) {
    const ByteView bytes = in.blob();
    if (in.failed()) return false;
    lanes[k] = {bytes.data(), bytes.size()};
  }
  on_this_cpu<get_body>(lanes, table, plain);
  return std::all_of(lanes.begin(), lanes.end(), [](const Lane &lane) { return (lane.bit + 7) / 8 == lane.size; });
}

}  // namespace cairn::codec
