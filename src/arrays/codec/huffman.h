// Huffman codes of at most kMaxCode bits, for streams that are read from the lowest bit of a word on.
//
// A code of one symbol has no bits. As bytes: the first symbol, the number of symbols from the first to the last less
// one, then the lengths of their codes (0: none), two in a byte, the first in the low half; nothing behind a number of
// symbols of one. Codes are canonical: shorter ones first, then smaller symbols, counting up; their bits are reversed.
// No allocation but of what is appended; any thread.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"

namespace cairn::codec {

constexpr unsigned kMaxCode = 10;  ///< six codes fit into a word of 64 bits, and a table into the first cache
constexpr size_t kCodeTable = size_t{1} << kMaxCode;

struct HuffmanCode {
  std::array<uint8_t, 256> length = {};
  std::array<uint16_t, 256> bits = {};
  unsigned symbols = 0;  ///< that occur
  unsigned first = 0;    ///< the smallest
  unsigned last = 0;     ///< the largest

  /// The best code for these frequencies.
  static HuffmanCode of(const std::array<uint32_t, 256> &frequencies);
  void write(Bytes *out) const;
  /// False if they are no code.
  bool read(ByteReader &in);

 private:
  void count_up();  ///< makes the bits of the lengths
};

}  // namespace cairn::codec
