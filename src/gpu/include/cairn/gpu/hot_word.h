// The hot word: all that an event changes which was as predicted and whose mask stayed.
//
//   {mask of the previous event; its location, whether the mask had changed, hits since the word was put there}
//
// While all lanes of a warp are at a point together, such an event costs a look at the word and a store. Whoever
// records in the long way takes the word in first and puts a new one down last. A closed word says that every event
// must go the long way.
#pragma once

#include "portability.h"

namespace cairn::gpu {

template <typename Mask>
struct alignas(2 * sizeof(Mask)) HotWord {
  static constexpr uint32_t kMostHits = 0x7fff;
  Mask previous;
  uint32_t rest;  ///< 1 bit: changed; 16: location; 15: hits

  static CAIRN_GPU_BOTH HotWord of(Mask previous, uint32_t location, bool changed) {
    return {previous, location << 1 | (changed ? 1u : 0u)};
  }
  static CAIRN_GPU_BOTH HotWord closed() { return {0, kMostHits << 17}; }

  [[nodiscard]] CAIRN_GPU_BOTH uint32_t location() const { return rest >> 1 & 0xffff; }
  [[nodiscard]] CAIRN_GPU_BOTH bool changed() const { return (rest & 1) != 0; }
  [[nodiscard]] CAIRN_GPU_BOTH uint32_t hits() const { return rest >> 17; }
  /// No more hits can be counted: also when closed.
  [[nodiscard]] CAIRN_GPU_BOTH bool is_full() const { return rest >= kMostHits << 17; }
  [[nodiscard]] CAIRN_GPU_BOTH bool is_closed() const { return previous == 0 && rest == kMostHits << 17; }
  /// No word is.
  [[nodiscard]] CAIRN_GPU_BOTH bool is_nothing() const { return rest == ~uint32_t{0}; }
  /// After a hit at `location` with the mask that was there before.
  [[nodiscard]] CAIRN_GPU_BOTH HotWord after(uint32_t location) const {
    return {previous, (rest & ~uint32_t{0x1ffff}) + (uint32_t{1} << 17) + (location << 1)};
  }
};

/// What lanes of a warp say that they want. All zeros: nothing.
struct alignas(16) Turns {
  static constexpr uint32_t kTurn = 1;    ///< to record, or it does
  static constexpr uint32_t kRoom = 128;  ///< it could not, for want of room
  uint8_t wants[8 * sizeof(LaneMask)];
};

}  // namespace cairn::gpu
