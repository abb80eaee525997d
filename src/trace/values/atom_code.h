// Atoms as unsigned numbers that are small when the atom is common: what a .cairn file stores of an atom is
// the varint of this number. A bijection on 64 bits (docs/format.md, "Atoms").
#pragma once

#include <bit>
#include <cstdint>

#include "base/bytes.h"
#include "trace/values/atom.h"

namespace cairn::trace {

/// Values from 0 up are even, specials the odd numbers below 8192, values below 0 the odd ones above.
constexpr uint64_t atom_code(Atom atom) {
  if (atom >= 0) return static_cast<uint64_t>(atom) << 1;
  if (is_special(atom)) return 2U * special_code(atom) + 1U;
  return zigzag(atom) + 8192;
}

constexpr Atom atom_of_code(uint64_t code) {
  if ((code & 1) == 0) return static_cast<Atom>(code >> 1);
  if (code < 8192) return special(static_cast<uint16_t>(code >> 1));
  return unzigzag(code - 8192);
}

/// Bytes that a value needs which is told as its distance from the least of those up to the greatest; 0: all are alike.
constexpr unsigned bytes_between(Atom least, Atom greatest) {
  const uint64_t range = static_cast<uint64_t>(greatest) - static_cast<uint64_t>(least);
  return (static_cast<unsigned>(std::bit_width(range)) + 7) / 8;
}

static_assert(atom_code(-1) == 8193 && atom_of_code(8193) == -1);
static_assert(atom_code(kSpecialLast + 1) == UINT64_MAX && atom_of_code(UINT64_MAX) == kSpecialLast + 1);

}  // namespace cairn::trace
