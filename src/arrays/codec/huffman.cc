#include "arrays/codec/huffman.h"

#include <algorithm>

namespace cairn::codec {
namespace {

/// Lengths without a limit: the two rarest trees become one, until one is left.
void make_lengths(const std::array<uint32_t, 256> &frequencies, const uint16_t *symbols, unsigned count,
                  uint8_t *lengths) {
  struct Node {
    uint64_t weight;
    uint16_t parent;
  };
  std::array<Node, 512> nodes;
  for (unsigned i = 0; i < count; ++i) nodes[i] = {frequencies[symbols[i]], 0};
  unsigned leaf = 0;
  unsigned tree = count;
  const auto rarest = [&](unsigned end) {
    return tree == end || (leaf < count && nodes[leaf].weight <= nodes[tree].weight) ? leaf++ : tree++;
  };
  for (unsigned next = count; next < 2 * count - 1; ++next) {
    const unsigned one = rarest(next);
    const unsigned other = rarest(next);
    nodes[next] = {nodes[one].weight + nodes[other].weight, 0};
    nodes[one].parent = nodes[other].parent = static_cast<uint16_t>(next);
  }
  std::array<uint8_t, 512> depth;
  depth[2 * count - 2] = 0;
  for (unsigned i = 2 * count - 2; i-- > 0;) {
    depth[i] = static_cast<uint8_t>(depth[nodes[i].parent] + 1);
    if (i < count) lengths[symbols[i]] = depth[i];
  }
}

}  // namespace

HuffmanCode HuffmanCode::of(const std::array<uint32_t, 256> &frequencies) {
  HuffmanCode code;
  std::array<uint16_t, 256> symbols;
  for (unsigned s = 0; s < 256; ++s) {
    if (frequencies[s] != 0) symbols[code.symbols++] = static_cast<uint16_t>(s);
  }
  if (code.symbols == 0) return code;
  code.first = symbols[0];
  code.last = symbols[code.symbols - 1];
  if (code.symbols == 1) return code;
  std::array<uint64_t, 256> keys;  // in order of frequencies, then of symbols
  for (unsigned i = 0; i < code.symbols; ++i) keys[i] = uint64_t{frequencies[symbols[i]]} << 8 | symbols[i];
  std::sort(keys.begin(), keys.begin() + code.symbols);
  for (unsigned i = 0; i < code.symbols; ++i) symbols[i] = static_cast<uint16_t>(keys[i] & 0xff);
  make_lengths(frequencies, symbols.data(), code.symbols, code.length.data());
  // Codes that are too long get the most that is allowed; others are made longer, the rarest first, until all have
  // room.
  size_t room = 0;
  for (unsigned i = 0; i < code.symbols; ++i) {
    uint8_t &length = code.length[symbols[i]];
    length = std::min<uint8_t>(length, kMaxCode);
    room += kCodeTable >> length;
  }
  for (unsigned i = 0; room > kCodeTable; i = (i + 1) % code.symbols) {
    uint8_t &length = code.length[symbols[i]];
    if (length == kMaxCode) continue;
    room -= kCodeTable >> (length + 1);
    ++length;
  }
  // What was made too long is given back, the most frequent first.
  for (unsigned i = code.symbols; i-- > 0;) {
    uint8_t &length = code.length[symbols[i]];
    while (length > 1 && room + (kCodeTable >> length) <= kCodeTable) room += kCodeTable >> length--;
  }
  code.count_up();
  return code;
}

void HuffmanCode::count_up() {
  std::array<unsigned, kMaxCode + 1> next = {};  // of each length: first how many, then the code of the next
  for (unsigned s = first; s <= last; ++s) ++next[length[s]];
  unsigned code = 0;
  next[0] = 0;
  for (unsigned size = 1; size <= kMaxCode; ++size) {
    const unsigned some = next[size];
    next[size] = code;
    code = (code + some) << 1;
  }
  for (unsigned s = first; s <= last; ++s) {
    const unsigned size = length[s];
    if (size == 0) continue;
    unsigned reversed = next[size];
    reversed = (reversed & 0x5555) << 1 | (reversed >> 1 & 0x5555);
    reversed = (reversed & 0x3333) << 2 | (reversed >> 2 & 0x3333);
    reversed = (reversed & 0x0f0f) << 4 | (reversed >> 4 & 0x0f0f);
    reversed = (reversed & 0x00ff) << 8 | reversed >> 8;
    bits[s] = static_cast<uint16_t>(reversed >> (16 - size));
    ++next[size];
  }
}

void HuffmanCode::write(Bytes *out) const {
  out->push_back(static_cast<uint8_t>(first));
  out->push_back(static_cast<uint8_t>(last - first));
  if (last == first) return;
  for (unsigned s = first; s <= last; s += 2) {
    const unsigned high = s < last ? length[s + 1] : 0;
    out->push_back(static_cast<uint8_t>(length[s] | high << 4));
  }
}

bool HuffmanCode::read(ByteReader &in) {
  first = in.byte();
  last = first + in.byte();
  if (in.failed() || last > 255) return false;
  symbols = 1;
  if (first == last) return true;
  symbols = 0;
  size_t room = 0;
  for (unsigned s = first; s <= last; s += 2) {
    const unsigned two = in.byte();
    for (unsigned k = 0; k < 2; ++k) {
      const unsigned each = two >> (4 * k) & 15;
      if (each > kMaxCode || (s + k > last && each != 0)) return false;
      if (each == 0) continue;
      length[s + k] = static_cast<uint8_t>(each);
      room += kCodeTable >> each;
      ++symbols;
    }
  }
  if (in.failed() || room != kCodeTable) return false;
  count_up();
  return true;
}

}  // namespace cairn::codec
