// The coder `raw`: every event as it is, location and mask. What compression is measured against, and where it is off.
#pragma once

#include "bits.h"
#include "guesses.h"
#include "hot_word.h"
#include "values.h"

namespace cairn::gpu {

template <typename Mask>
struct RawState {
  PendingBits pending;
};
struct NoTables {};

template <typename Mask>
class Raw {
 public:
  using State = RawState<Mask>;
  using Tables = NoTables;
  static constexpr bool kQuick = false;
  static CAIRN_GPU_BOTH HotWord<Mask> hot_word(const State &) { return HotWord<Mask>::closed(); }
  static CAIRN_GPU_BOTH uint32_t take_hot_word(State &, const HotWord<Mask> &) { return 0; }
  static CAIRN_GPU_BOTH bool is_quick_hit(const HotWord<Mask> &, const Tables &, uint32_t, Mask) { return false; }
  /// The largest event, and what ends a stream after it.
  static constexpr uint32_t kMostWords = 4;
  static CAIRN_GPU_BOTH void begin(State &state, Tables & /*tables*/, Mask /*all*/, const Guesses & /*guesses*/,
                                   uint32_t lane = 0, uint32_t /*lanes*/ = 1) {
    if (lane != 0) return;
    state.pending.bits = 0;
    state.pending.count = 0;
  }
  static CAIRN_GPU_BOTH bool is_hit(const State &, Tables &, uint32_t, Mask) { return false; }
  static CAIRN_GPU_BOTH void move(State &, Tables &, uint32_t, Mask) {}
  template <typename Out>
  static CAIRN_GPU_BOTH void put(State &state, Tables & /*tables*/, uint32_t location, Mask mask, bool /*is_hit*/,
                                 uint32_t location_bits, Out &out) {
    put_bits(state.pending, out, location, location_bits);
    put_mask(state.pending, out, mask);
  }
  template <typename Out>
  static CAIRN_GPU_BOTH void values(State &state, ValueSlot & /*slot*/, ValueType type, const uint64_t *lane, Mask mask,
                                    Out &out) {
    put_plain_values(state.pending, out, type, lane, mask);
  }
  template <typename Out>
  static CAIRN_GPU_BOTH void end(State &state, Out &out) {
    flush_bits(state.pending, out);
  }
};

}  // namespace cairn::gpu
