// Where the coder `predict` starts from: what a program's text says can follow each location. One table for all warps
// of a launch; it stands in the trace, since decoding starts from it too.
#pragma once

#include "cairn/gpu/portability.h"

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

}  // namespace cairn::gpu
