// Numbers of few bits, each with a width of its own, in lanes that are written and read side by side. The widths are
// kept elsewhere.
//
// Number i belongs to lane i mod L: eight lanes with words of 32 bits for numbers of up to 32 bits, four with words of
// 64 bits for those of up to 64. A lane's numbers fill its words from the lowest bit on, and go on in its next word.
// The words of all lanes stand in the order in which a reader comes to need them: in the first number of which a word
// has a bit, and of lanes that need one at the same number of rounds, the lower first. So a reader takes one word at a
// time for each lane, without knowing how long any of them is; and the writer goes from the last number to the first.
// (Interleaved streams like those of Giesen, "Interleaved entropy coders", 2014, for plain bits.)
//
// Why lanes: bits behind one another make each number wait for the end of the one before, in both directions; the plain
// form takes three to five times as long. Why their words are interleaved and not one lane after the other: that would
// need eight lengths, and a reader that takes words from eight places.
//
// No allocation, any thread. Cost: half a nanosecond a number of 32 bits with AVX2, which is used where the CPU has it,
// else 2 to 4 ns; the bytes are the same everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace cairn::codec {

/// What lanes add to the bits of the numbers, in bytes, at most.
constexpr size_t kPackSlack = 32;

/// Writes `count` numbers, number i in widths[i] bits (at most all of T, and no bit beyond them set), and gives the
/// number of bytes. `out` has room for all of them in full, and kPackSlack.
template <typename Word>
size_t pack_bits(const Word *numbers, const uint8_t *widths, size_t count, uint8_t *out);

/// Reads what pack_bits wrote. False if there is not as much, or if bits that no number has are set; then `in` stays
/// where it was.
template <typename Word>
bool unpack_bits(ByteReader &in, const uint8_t *widths, size_t count, Word *numbers);

}  // namespace cairn::codec
