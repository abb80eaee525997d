// How the codec "delta" makes integers of values, so that what is near each other has a small difference.
//
//   ordered  the bits of a float as an integer that is larger when the float is; an integer as it is. Any value.
//   fixed    how many times 2^-shift fits into a float, towards zero; the bits of the mantissa below that, which no
//            prediction reaches, are kept as they are (the tail). For values that cross binary orders of magnitude.
//   scaled   the nearest n for which the float is base + n * step, and by how many units in the last place it is not
//            exactly that (the correction). For values that once were decimals or packed integers.
//
// Why not `ordered` alone: bits jump where a value crosses a power of two. Differences of floats themselves round, and
// cannot be undone. And most of what `delta` is ahead of other lossless codecs by is here: what was an integer or a
// decimal before it became a float has differences of a few bits, once it is that integer again.
//
// Words are 32 bits wide for elements of up to four bytes, else 64; arithmetic on them wraps. A value that does not fit
// its mapping is marked and has the integer 0; the codec then keeps it apart. Both sides compute the same integer of
// the same value: no fused multiply-add may be used here. No allocation, any thread; AVX2 where the CPU has it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arrays/codec/array_codec.h"

namespace cairn::codec {

enum class Mapping : uint8_t { ordered = 0, fixed = 1, scaled = 2 };

struct ValueMap {
  Mapping kind = Mapping::ordered;
  int shift = 0;    ///< fixed
  double base = 0;  ///< scaled
  double step = 1;  ///< scaled
};

/// Whether a decoder may use it: shifts and steps that keep all arithmetic defined.
bool valid(const ValueMap &map, Element element);

template <typename Word>
struct Mapped {
  Word *integers;
  uint8_t *misfits;      ///< 1 where the value does not fit
  Word *tails;           ///< fixed
  uint8_t *tail_widths;  ///< fixed
  uint8_t *corrections;  ///< scaled: zigzag
};

/// `count` elements at `values`, which need not be aligned. What the mapping does not have stays untouched.
template <typename Word>
void map_values(const ValueMap &map, Element element, const uint8_t *values, size_t count, const Mapped<Word> &out);

/// The widths of the tails of these integers.
template <typename Word>
void tail_widths(const Word *integers, size_t count, uint8_t *widths);

/// And back, from any integers, tails and corrections.
template <typename Word>
void unmap_values(const ValueMap &map, Element element, const Mapped<Word> &in, size_t count, uint8_t *values);

}  // namespace cairn::codec
