// Where the coder `predict` starts from: what a program's text says can follow each location. One table for all warps
// of a launch; it stands in the trace, since decoding starts from it too.
#pragma once

#include "portability.h"

namespace cairn::gpu {

/// What a slot of the table holds: location << 2 | relation, and a second location, as first guesses. All 0: nothing is
/// known.
struct Guess {
  uint32_t first;
  uint32_t second;
};
struct Guesses {
  static constexpr uint32_t kSlots = 64;
  Guess slots[kSlots];
  /// The slot for what comes after `location`.
  static CAIRN_GPU_BOTH uint32_t slot(uint32_t location, bool changed) {
    return (location * 2 + (changed ? 1 : 0)) % kSlots;
  }
};

/// What follows from pairs (a, b), "b can come after a", up to (0, 0): the first pair with an a is the first guess, the
/// second the second. Location 0 is the kernel's begin. The same table must come of the same pairs for ever: traces
/// hold the pairs.
CAIRN_GPU_BOTH void add_successors(Guesses &guesses, const uint16_t *pairs) {
  for (; pairs != nullptr && pairs[1] != 0; pairs += 2) {
    for (uint32_t changed = 0; changed < 2; ++changed) {
      Guess &guess = guesses.slots[Guesses::slot(pairs[0], changed != 0)];
      if (guess.first == 0) {
        guess.first = uint32_t{pairs[1]} << 2;
      } else if (guess.second == 0) {
        guess.second = pairs[1];
      }
    }
  }
}

}  // namespace cairn::gpu
