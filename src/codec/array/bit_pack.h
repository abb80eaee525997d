// Numbers of few bits, each with a width of its own, one behind the other: bit 0 of the first in bit 0 of the first
// byte. The widths are kept elsewhere, so that reading one number does not wait for the one before it.
//
// No allocation, any thread. Cost: 1 to 3 ns a number with AVX2 and BMI2, which are used where the CPU has them; the
// bytes are the same everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace cairn::codec {

/// What may be written behind the last byte of packed numbers.
constexpr size_t kPackSlack = 16;

/// Writes `count` numbers, number i in widths[i] bits (at most all of T, and no bit beyond them set), and gives the
/// number of bytes. `out` has room for all of them in full, and kPackSlack.
size_t pack_bits(const uint32_t *numbers, const uint8_t *widths, size_t count, uint8_t *out);
size_t pack_bits(const uint64_t *numbers, const uint8_t *widths, size_t count, uint8_t *out);

/// The bytes that numbers of these widths take.
size_t packed_size(const uint8_t *widths, size_t count);

/// Reads what pack_bits wrote; `packed` is at least packed_size bytes, and nothing beyond it is read.
void unpack_bits(ByteView packed, const uint8_t *widths, size_t count, uint32_t *numbers);
void unpack_bits(ByteView packed, const uint8_t *widths, size_t count, uint64_t *numbers);

}  // namespace cairn::codec
