// The loops of the codec "xor" over a block: what is left of elements XOR earlier ones, in how many bits; the counts of
// leading zeros, packed; and back. With AVX2 where the CPU has it; the same numbers everywhere.
//
// No allocation, any thread. Cost: about half a nanosecond an element of 32 bits, for all of one direction.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::codec {

constexpr size_t kXorBlock = 4096;  ///< elements: all that a block needs stays in the first cache

template <typename T>
constexpr unsigned kXorCountBits = sizeof(T) == 4 ? 5 : 6;

/// What reads and writes of counts may touch behind them.
constexpr size_t kXorSlack = 32;

/// rest = now XOR before, and the bits of each below its leading zeros, but 1 of none.
template <typename T>
void xor_differ(const T *now, const T *before, size_t count, T *rest, uint8_t *widths);

/// now[i] = rest[i] XOR now[i - distance]; there is one before the first.
template <typename T>
void xor_join(T *now, const T *rest, size_t distance, size_t count);

/// Packs the number of bits of T less each width; those behind the last, up to the next eighth, as 0. Gives the bytes.
/// kXorSlack widths behind the last are overwritten, and as many bytes of `out`.
template <typename T>
size_t put_xor_counts(uint8_t *widths, size_t count, uint8_t *out);
/// And back. kXorSlack bytes behind the packed ones are read, and as many widths behind the last overwritten.
template <typename T>
void get_xor_counts(const uint8_t *packed, size_t count, uint8_t *widths);

}  // namespace cairn::codec
