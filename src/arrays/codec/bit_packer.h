// Words of 64 bits that fill up, the lowest bit first, and are written when they are full. The inner loop of everything
// here that writes bits.
#pragma once

#include <cstdint>
#include <cstring>

#include "arrays/codec/cpu.h"

namespace cairn::codec {

/// Writes up to eight bytes beyond what it was given. Whether a word is full cannot be foretold, and compilers turn a
/// choice into a jump: hence the masks.
struct BitPacker {
  uint8_t *out;
  uint64_t word = 0;
  uint64_t fill = 0;  ///< below 64

  /// `number` has no bit at or above `width`, which is at most 64.
  CAIRN_BODY void put(uint64_t number, uint64_t width) {
    const uint64_t low = number << fill;
    const uint64_t high = (number >> 1) >> (63 - fill);
    const uint64_t filled = fill + width;
    const uint64_t all = word | low;
    memcpy(out, &all, 8);
    out += (filled >> 6) << 3;
    const uint64_t full = 0 - (filled >> 6);
    word = (word & ~full) | ((high & full) | (low & ~full));  // only the first of these waits for the number before
    fill = filled & 63;
  }
  /// The number of bytes from `begin`.
  CAIRN_BODY size_t end(const uint8_t *begin) {
    memcpy(out, &word, 8);
    return static_cast<size_t>(out - begin) + (fill + 7) / 8;
  }
};

}  // namespace cairn::codec
