// Values at trace points: a number of each lane that is there, kept in order with the events.
//
// For programs whose values are addresses, indices, bounds and counters: of the last 8 locations (by their lower bits)
// it is known what the values were as a function of the lane, base + stride * lane, and by how much the base went on
// from one time to the next. Where that foretells all lanes' values nothing is written, and the event may be a hit;
// else a new base, or stride, or, where the values are no such function, their differences from the first of them in as
// many bits as the greatest needs. Arithmetic is on bit patterns, modulo 2^32 or 2^64, so floats that stay or are the
// same in all lanes cost nothing either.
//
// One caller at a time for a warp. A predicted value costs as many loads from L1 as lanes are there; the state is there
// only in launches of programs that have locations with values.
#pragma once

#include "bits.h"

namespace cairn::gpu {

/// The numbers stand in streams.
enum class ValueType : uint8_t { none, i32, u32, f32, i64, u64, f64 };

struct ValueSlot {
  uint64_t base;     ///< of lane 0; not a function of the lane: of the first lane there
  uint32_t step;     ///< what the base is expected to grow by
  uint32_t delta;    ///< what it grew by last
  uint32_t stride;   ///< from lane to lane
  uint8_t type;      ///< ValueType
  uint8_t by_lanes;  ///< the values were a function of the lane
};

struct ValueSlots {
  static constexpr uint32_t kSlots = 8;
  ValueSlot slots[kSlots];
};

/// What a traced warp has in memory for values.
template <typename Mask>
struct WarpValues {
  ValueSlots known;
  uint64_t lane[8 * sizeof(Mask)];  ///< what each lane brings to the point where it is
};

/// The most words that values take behind an event.
template <typename Mask>
constexpr uint32_t kMostValueWords = 2 * 8 * sizeof(Mask) + 6;

CAIRN_GPU_BOTH void begin_values(ValueSlots &known, uint32_t lane = 0, uint32_t lanes = 1) {
  CAIRN_GPU_ROLLED for (uint32_t i = lane; i < ValueSlots::kSlots; i += lanes) {
    known.slots[i] = {0, 0, 0, 0, static_cast<uint8_t>(ValueType::u32), 1};
  }
}

namespace value_detail {

CAIRN_GPU_BOTH bool is_wide(ValueType type) { return type >= ValueType::i64; }
CAIRN_GPU_BOTH uint64_t narrow(ValueType type, uint64_t value) {
  return is_wide(type) ? value : static_cast<uint32_t>(value);
}
CAIRN_GPU_BOTH uint64_t widened(uint32_t value) {
  return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(value)));
}
/// The difference a - b as a number that is small if it is near 0, below 2^32 for types of 32 bits.
CAIRN_GPU_BOTH uint64_t folded(ValueType type, uint64_t a, uint64_t b) {
  const uint64_t difference = is_wide(type) ? a - b : widened(static_cast<uint32_t>(a - b));
  return difference << 1 ^ (uint64_t{0} - (difference >> 63));
}
CAIRN_GPU_BOTH uint64_t unfolded(uint64_t value) { return value >> 1 ^ (uint64_t{0} - (value & 1)); }
CAIRN_GPU_BOTH bool fits_32(uint64_t value) { return widened(static_cast<uint32_t>(value)) == value; }

template <typename Mask>
CAIRN_GPU_BOTH uint32_t first_lane(Mask mask) {
  return ones(static_cast<Mask>((mask & (~mask + 1)) - 1));
}

CAIRN_GPU_BOTH uint32_t wide_width(uint64_t value) {
  const auto high = static_cast<uint32_t>(value >> 32);
  return high != 0 ? 32 + width_of(high) : width_of(static_cast<uint32_t>(value));
}
/// Bits that the width of a number takes: 0 to 32, or 0 to 64.
CAIRN_GPU_BOTH uint32_t width_bits(ValueType type) { return is_wide(type) ? 7 : 6; }

template <typename Out>
CAIRN_GPU_BOTH void put_wide(PendingBits &pending, Out &out, uint64_t value, uint32_t count) {
  const uint32_t low = count < 32 ? count : 32;
  put_bits(pending, out, static_cast<uint32_t>(value), low);
  if (count > 32) put_bits(pending, out, static_cast<uint32_t>(value >> 32), count - 32);
}
/// Its width, then what follows its leading bit.
template <typename Out>
CAIRN_GPU_BOTH void put_number(PendingBits &pending, Out &out, ValueType type, uint64_t value) {
  const uint32_t width = wide_width(value);
  put_bits(pending, out, width, width_bits(type));
  if (width > 1) put_wide(pending, out, value & ~(uint64_t{1} << (width - 1)), width - 1);
}

/// What the values of a warp are as a function of the lane.
struct ByLanes {
  uint64_t base;
  uint32_t stride;
  bool are;
};
template <typename Mask>
CAIRN_GPU_BOTH ByLanes by_lanes(const ValueSlot &slot, ValueType type, const uint64_t *lane, Mask mask) {
  ByLanes found{0, slot.stride, false};
  if (mask == 0) return {narrow(type, slot.base + widened(slot.step)), slot.stride, true};
  const uint32_t first = first_lane(mask);
  Mask rest = mask & (mask - 1);
  if (rest != 0) {
    const uint32_t second = first_lane(rest);
    const uint64_t difference = unfolded(folded(type, lane[second], lane[first]));
    if (!fits_32(difference)) return found;
    const auto rise = static_cast<int32_t>(difference);
    const auto run = static_cast<int32_t>(second - first);
    if (run != 1 && rise % run != 0) return found;
    found.stride = static_cast<uint32_t>(run == 1 ? rise : rise / run);
  }
  found.base = narrow(type, lane[first] - widened(found.stride) * first);
  CAIRN_GPU_ROLLED for (; rest != 0; rest &= rest - 1) {
    const uint32_t each = first_lane(rest);
    if (lane[each] != narrow(type, found.base + widened(found.stride) * each)) return found;
  }
  found.are = true;
  return found;
}

CAIRN_GPU_BOTH void learn(ValueSlot &slot, ValueType type, uint64_t base, uint32_t stride, bool are) {
  const uint64_t delta = unfolded(folded(type, base, narrow(type, slot.base)));
  const bool goes_on = are && slot.by_lanes != 0 && slot.type == static_cast<uint8_t>(type) && fits_32(delta);
  // A counter that begins anew goes on as before: only what happens twice is expected.
  if (!goes_on) {
    slot.step = 0;
  } else if (slot.delta == static_cast<uint32_t>(delta)) {
    slot.step = slot.delta;
  }
  slot.delta = goes_on ? static_cast<uint32_t>(delta) : 0;
  slot.base = base;
  slot.stride = stride;
  slot.type = static_cast<uint8_t>(type);
  slot.by_lanes = are ? 1 : 0;
}

}  // namespace value_detail

CAIRN_GPU_BOTH ValueSlot &value_slot(ValueSlots &known, uint32_t location) {
  return known.slots[location % ValueSlots::kSlots];
}
/// What is expected of a lane.
CAIRN_GPU_BOTH uint64_t expected_value(const ValueSlot &slot, uint32_t lane) {
  using namespace value_detail;
  return narrow(static_cast<ValueType>(slot.type), slot.base + widened(slot.step) + widened(slot.stride) * lane);
}

/// Whether the values at a location are as expected. `lane` has those of all lanes; what those of `mask` bring counts.
template <typename Mask>
CAIRN_GPU_BOTH bool are_expected(const ValueSlot &slot, ValueType type, const uint64_t *lane, Mask mask) {
  if (slot.by_lanes == 0 || slot.type != static_cast<uint8_t>(type)) return false;
  CAIRN_GPU_ROLLED for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t each = value_detail::first_lane(rest);
    if (lane[each] != expected_value(slot, each)) return false;
  }
  return true;
}
/// They were.
CAIRN_GPU_BOTH void confirm(ValueSlot &slot) {
  slot.base = expected_value(slot, 0);
  slot.delta = slot.step;
}

/// Writes values behind an event that was not as expected, itself or they, and learns from them.
template <typename Mask, typename Out>
CAIRN_GPU_BOTH void put_values(ValueSlot &slot, PendingBits &pending, Out &out, ValueType type, const uint64_t *lane,
                               Mask mask) {
  using namespace value_detail;
  if (are_expected(slot, type, lane, mask)) {
    put_bits(pending, out, 1, 1);
    confirm(slot);
    return;
  }
  const bool known_type = slot.type == static_cast<uint8_t>(type);
  put_bits(pending, out, known_type ? 0b10 : 0, 2);
  if (!known_type) put_bits(pending, out, static_cast<uint32_t>(type), 3);
  const uint64_t expected = narrow(type, slot.base + widened(slot.step));
  const ByLanes found = by_lanes(slot, type, lane, mask);
  put_bits(pending, out, found.are ? 1 : 0, 1);
  if (found.are) {
    put_bits(pending, out, found.stride == slot.stride ? 1 : 0, 1);
    if (found.stride != slot.stride) put_number(pending, out, ValueType::i32, folded(ValueType::i32, found.stride, 0));
    put_number(pending, out, type, folded(type, found.base, expected));
    learn(slot, type, found.base, found.stride, true);
    return;
  }
  const uint64_t first = lane[first_lane(mask)];
  put_number(pending, out, type, folded(type, first, expected));
  uint64_t all = 0;
  CAIRN_GPU_ROLLED for (Mask rest = mask & (mask - 1); rest != 0; rest &= rest - 1) all |=
      folded(type, lane[first_lane(rest)], first);
  const uint32_t width = wide_width(all);
  put_bits(pending, out, width, width_bits(type));
  CAIRN_GPU_ROLLED for (Mask rest = mask & (mask - 1); rest != 0; rest &= rest - 1) {
    put_wide(pending, out, folded(type, lane[first_lane(rest)], first), width);
  }
  learn(slot, type, first, 0, false);
}

/// Writes values as they are.
template <typename Mask, typename Out>
CAIRN_GPU_BOTH void put_plain_values(PendingBits &pending, Out &out, ValueType type, const uint64_t *lane, Mask mask) {
  using namespace value_detail;
  put_bits(pending, out, static_cast<uint32_t>(type), 3);
  CAIRN_GPU_ROLLED for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    put_wide(pending, out, lane[first_lane(rest)], is_wide(type) ? 64 : 32);
  }
}

}  // namespace cairn::gpu
