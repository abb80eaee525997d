// Bytes as Huffman codes, each for itself: for planes in which nothing repeats but how often bytes occur. Half the time
// that zstd needs to find that out. (Arithmetic codes and ANS would save what Huffman codes round away, which is little
// where no byte is much more frequent than all others; one look-up a byte, and nothing to multiply, makes the
// nanosecond.)
//
// A Huffman code (huffman.h), then four lanes (fewer if there are not as many bytes), each a varint with its length and
// its codes; each lane has a fourth of the bytes, rounded up, the last what is left. They are read at the same time,
// since each code has to be read before it is known where the next one is. Any thread; no memory but what is appended.
// Cost: about 1 ns a byte.
#pragma once

#include <span>

#include "base/bytes.h"

namespace cairn::codec {

/// `room`: plain.size() * 2 + 64 bytes.
void write_byte_codes(ByteView plain, uint8_t *room, Bytes *out);

/// False if the bytes are not valid.
bool read_byte_codes(ByteReader &in, std::span<uint8_t> plain);

}  // namespace cairn::codec
