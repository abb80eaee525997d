// Planes of bytes and of bits: the k-th bytes (bits) of all elements beside each other, since they resemble each other
// more than the bytes of one element do (the shuffle of blosc and the bitshuffle of Masui et al. 2015).
//
// Planes of bytes: plane k holds byte k (the least significant first) of each of `count` elements. Planes of bits: of
// the first `count` - `count` % 8 elements, plane 8k + b holds bit b of byte k, the element i in bit i % 8 of byte i /
// 8; what is left over follows as it is. Both directions write as many bytes as they read, from one place to another
// that does not overlap it. Any thread; no memory; AVX2 where the CPU has it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::codec {

/// `width`: bytes of an element: 1, 2, 4 or 8.
void to_byte_planes(const uint8_t *elements, size_t count, size_t width, uint8_t *planes);
void from_byte_planes(const uint8_t *planes, size_t count, size_t width, uint8_t *elements);

/// `room`: count * width bytes.
void to_bit_planes(const uint8_t *elements, size_t count, size_t width, uint8_t *planes, uint8_t *room);
void from_bit_planes(const uint8_t *planes, size_t count, size_t width, uint8_t *elements, uint8_t *room);

}  // namespace cairn::codec
