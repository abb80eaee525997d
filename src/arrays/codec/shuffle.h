// Planes of bytes: the k-th bytes of all elements beside each other, since they resemble each other more than the bytes
// of one element do (the shuffle of blosc). Plane k holds byte k (the least significant first) of each of `count`
// elements. Both directions write as many bytes as they read, from one place to another that does not overlap it. Any
// thread; no memory; AVX2 where the CPU has it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::codec {

/// `width`: bytes of an element: 1, 2, 4 or 8.
void to_byte_planes(const uint8_t *elements, size_t count, size_t width, uint8_t *planes);
void from_byte_planes(const uint8_t *planes, size_t count, size_t width, uint8_t *elements);

}  // namespace cairn::codec
