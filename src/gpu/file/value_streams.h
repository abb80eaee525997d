// Values behind the events of a stream, read: the inverse of put_values and put_plain_values (cairn/gpu/values.h). What
// no coder writes gives false; a reader that failed gives zeros. For streams.cc.
#pragma once

#include <algorithm>

#include "cairn/gpu/values.h"
#include "gpu/file/streams.h"

namespace cairn::gpu {

inline bool has_values(const StreamForm &form, uint32_t location) {
  const auto all = form.value_locations;
  return !all.empty() && std::binary_search(all.begin(), all.end(), static_cast<uint16_t>(location));
}

/// Calls `show` with the number of every lane of `mask`, the lowest first.
template <typename Mask, typename Show>
void for_each_lane(Mask mask, Show show) {
  for (Mask rest = mask; rest != 0; rest &= rest - 1) show(value_detail::first_lane(rest));
}

/// What are_expected says are the values.
template <typename Mask>
bool expect_values(ValueSlot &slot, Mask mask, Event *event) {
  event->type = static_cast<ValueType>(slot.type);
  for_each_lane(mask, [&](uint32_t lane) { event->values.push_back(expected_value(slot, lane)); });
  confirm(slot);
  return slot.by_lanes != 0;
}

inline uint64_t read_number(BitReader &in, ValueType type, bool *valid) {
  const uint32_t width = in.get(value_detail::width_bits(type));
  if (width > (value_detail::is_wide(type) ? 64 : 32)) *valid = false;
  if (width == 0 || !*valid) return 0;
  return in.wide(width - 1) | uint64_t{1} << (width - 1);
}

/// The inverse of put_values. False where it wrote nothing of the kind.
template <typename Mask>
bool read_values(BitReader &in, ValueSlot &slot, Mask mask, Event *event) {
  using namespace value_detail;
  if (in.get(1) != 0) return expect_values(slot, mask, event);
  const auto type = static_cast<ValueType>(in.get(1) != 0 ? slot.type : in.get(3));
  if (type == ValueType::none || type > ValueType::f64) return false;
  event->type = type;
  const uint64_t expected = narrow(type, slot.base + widened(slot.step));
  bool valid = true;
  if (in.get(1) != 0) {
    uint32_t stride = slot.stride;
    if (in.get(1) == 0) stride = static_cast<uint32_t>(unfolded(read_number(in, ValueType::i32, &valid)));
    const uint64_t base = narrow(type, expected + unfolded(read_number(in, type, &valid)));
    for_each_lane(mask, [&](uint32_t lane) { event->values.push_back(narrow(type, base + widened(stride) * lane)); });
    learn(slot, type, base, stride, true);
    return valid;
  }
  if (mask == 0) return false;
  const uint64_t first = narrow(type, expected + unfolded(read_number(in, type, &valid)));
  const uint32_t width = in.get(width_bits(type));
  if (width > (is_wide(type) ? 64 : 32)) return false;
  event->values.push_back(first);
  for_each_lane(static_cast<Mask>(mask & (mask - 1)),
                [&](uint32_t) { event->values.push_back(narrow(type, first + unfolded(in.wide(width)))); });
  learn(slot, type, first, 0, false);
  return valid;
}

template <typename Mask>
bool read_plain_values(BitReader &in, Mask mask, Event *event) {
  event->type = static_cast<ValueType>(in.get(3));
  if (event->type == ValueType::none || event->type > ValueType::f64) return false;
  for_each_lane(mask,
                [&](uint32_t) { event->values.push_back(in.wide(value_detail::is_wide(event->type) ? 64 : 32)); });
  return true;
}

}  // namespace cairn::gpu
