// Masks of values that are missing, or kept apart: a byte for each value, 0 or 1, as the loops of the codec "delta" use
// them, and a bit for each, as they are written. "Held" values are those that have no residual.
//
// No allocation, any thread; with AVX2 where the CPU has it. Loops may read and write up to eight masks or words behind
// the last.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::codec {

/// Which of these values, of `size` bytes each, are the fill.
void mark_fill(size_t size, const uint8_t *values, size_t count, uint64_t fill, uint8_t *fills);
/// Writes the fill where values are held.
void put_fill(size_t size, const uint8_t *held, size_t count, uint64_t fill, uint8_t *values);

/// Joins the fill to what is held already.
struct Joined {
  bool some;    ///< is held
  bool others;  ///< are, than the fill
};
Joined join_held(uint8_t *held, const uint8_t *fills, size_t count);

/// Makes 0 what is held.
template <typename T>
void clear_held(const uint8_t *held, size_t count, T *numbers);

/// Bytes to bits. The eight bytes behind the last are 0.
void put_mask(const uint8_t *held, size_t count, uint8_t *mask);
/// And back; gives how many are not held.
size_t get_mask(const uint8_t *mask, size_t count, uint8_t *held);

/// Those that are not held, without gaps; gives their number.
template <typename Word>
size_t squeeze(const uint8_t *held, size_t count, const Word *numbers, Word *to);
/// And back to their places; 0 at those of held ones.
template <typename Word>
void spread(const uint8_t *held, size_t count, const Word *numbers, Word *to);

}  // namespace cairn::codec
