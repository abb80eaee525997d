// Classes of residuals as Huffman codes. What class comes next depends on the one before: the number of bits of a
// residual says how large the next may be, and chooses one of up to eight codes. That takes 0.3 to 0.9 bits off each on
// real data, which zstd's codes, that know no order, leave there. Eight at most, so that their tables and counters stay
// in the first cache; and classes, not residuals: low bits are noise that no code shortens and that each table pays
// for.
//
// A class is 4 (bits - 2) + the two bits below the leading one; residuals below 4 are their own class. The classes are
// cut into four lanes of equal length, whose codes can be read at the same time, since each has to be read before it is
// known where the next one is. docs/array-codecs.md has the bytes. Any thread; some kilobytes on the stack and on the
// heap. Cost: 1 to 2 ns a class.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "arrays/codec/cpu.h"
#include "base/bytes.h"

namespace cairn::codec {

/// How many bits of a residual stand below what its class says.
CAIRN_BODY uint32_t width_of_class(uint32_t klass) { return std::max(klass >> 2, 1U) - 1; }

/// Whether residuals of this word have such a class.
template <typename Word>
constexpr bool is_class(uint32_t klass) {
  return klass < 4 * (8 * sizeof(Word) - 1);
}

template <typename Word>
CAIRN_BODY uint32_t class_of(Word x) {
  if constexpr (sizeof(Word) == 4) {
    // From the exponent and mantissa of a float: conversions of 24 bits are exact, and done in vectors.
    const uint32_t large = 0U - static_cast<uint32_t>(x > 0xffffff);
    const auto exact = static_cast<int32_t>((x >> 8 & large) | (x & ~large));
    const uint32_t klass = (std::bit_cast<uint32_t>(static_cast<float>(exact)) >> 21) - 512U + (32 & large);
    const uint32_t small = 0U - static_cast<uint32_t>(x < 4);
    return (x & small) | (klass & ~small);
  } else {
    const auto bits = static_cast<uint32_t>(64 - std::countl_zero(x | 4));
    const auto klass = static_cast<uint32_t>((bits - 2) << 2 | (x >> (bits - 3) & 3));
    return x < 4 ? static_cast<uint32_t>(x) : klass;
  }
}

/// Appends the codes, or appends nothing and gives false where they would take less than `least` bits for a class: then
/// a compressor that knows of repetition does better. `some`: how often classes occur among some of them. `room`:
/// 4 * count + 128 bytes.
bool write_class_codes(const uint8_t *classes, size_t count, const std::array<uint32_t, 256> &some, double least,
                       uint8_t *room, Bytes *out);

/// False if the bytes are not valid. The classes may be any.
bool read_class_codes(ByteReader &in, uint8_t *classes, size_t count);

}  // namespace cairn::codec
