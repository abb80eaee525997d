// How the codec "delta" writes residuals, in one of three ways:
//
//   codes    the class of each residual (its number of bits, and its two highest below the leading one) as a Huffman
//            code, the bits below those behind it as they are (class_code.h): for residuals whose low bits are noise.
//   classes  the same, but classes as bytes, and low bits apart: for classes that repeat, which zstd sees.
//   planes   a plane for each byte of the residuals: for residuals whose low bytes repeat (values that were rounded).
//
// Planes are Huffman codes (byte_code.h), or, like bytes of classes, streams (stream.h) of zstd where there are runs; a
// plane that neither would shorten is left as it is. Cost: 2 to 4 ns for a residual of 32 bits.
#pragma once

#include <array>

#include "arrays/codec/reused.h"
#include "arrays/codec/stream.h"

namespace cairn::codec {

constexpr size_t kResidualBlock = 65536;  ///< the most residuals at a time

/// What both directions need beside the residuals; made once for all blocks of a box.
template <typename Word>
struct ResidualRoom {
  explicit ResidualRoom(size_t count)
      : classes(count + 16), widths(count + 16), low(count + 16), packed(count * (sizeof(Word) + 1) + 128) {}
  Reused<uint8_t> classes;
  Reused<uint8_t> widths;
  Reused<Word> low;
  Reused<uint8_t> packed;
};

/// Appends a byte for the way, and the residuals.
template <typename Word>
void write_residuals(const Word *residuals, size_t count, StreamWriter &streams, ResidualRoom<Word> &room, Bytes *out);

/// False if the bytes are not valid.
template <typename Word>
bool read_residuals(ByteReader &in, StreamReader &streams, ResidualRoom<Word> &room, Word *residuals, size_t count);

/// The bits that a byte takes if bytes occur as often as here; corrected for how few they are.
double entropy(const std::array<uint32_t, 256> &counts, size_t all);

/// The bits that each of some residuals takes, whichever way is shorter: from the frequencies of bytes, without what
/// zstd finds beyond those.
template <typename Word>
double estimated_bits(const Word *residuals, size_t count);

}  // namespace cairn::codec
