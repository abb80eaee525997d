#include "mpi/store/heap_log.h"

#include <bit>
#include <cassert>
#include <cstring>
#include <type_traits>

namespace cairn::recorder {
namespace {

/// The least number not below `bytes` with five significant bits.
uint64_t rounded_up(uint64_t bytes) {
  const auto width = static_cast<int>(std::bit_width(bytes));
  if (width <= 5) return bytes;
  const uint64_t step = uint64_t{1} << (width - 5);
  return (bytes + step - 1) & ~(step - 1);
}

}  // namespace

bool HeapLog::append(Arena &arena, const trace::HeapEvent &event) {
  if (order == nullptr) order = arena.create<grammar::Builder>(arena);
  if (order == nullptr) return false;
  static_assert(std::has_unique_object_representations_v<trace::HeapEvent>);
  uint8_t key[sizeof event];
  memcpy(key, &event, sizeof event);
  const Signature *known = events.intern(arena, key, sizeof key);
  if (known == nullptr || !order->append(known->id)) return false;
  calls_then = calls;
  return true;
}

uint64_t HeapLog::as_kept(uint64_t bytes) const { return events.size() < kExact ? bytes : rounded_up(bytes); }

bool HeapLog::add(Arena &arena, int64_t number, uint64_t bytes) {
  return append(arena, {calls - calls_then, number, as_kept(bytes)});
}

bool HeapLog::add_device(Arena &arena, int64_t number, uint64_t bytes) {
  return append(arena, trace::DeviceEvent{calls - calls_then, number, as_kept(bytes)}.packed());
}

bool HeapLog::add_thread(Arena &arena, uint32_t thread, bool ends, uint64_t all_calls) {
  assert(all_calls >= calls);
  const uint64_t passed = all_calls - calls;
  if (!append(arena, trace::ThreadEvent{calls - calls_then, passed - passed_then, thread, ends}.packed())) return false;
  passed_then = passed;
  return true;
}

trace::HeapEvent heap_event_of(const Signature &event) {
  trace::HeapEvent result;
  assert(event.size == sizeof result);
  memcpy(&result, event.bytes, sizeof result);
  return result;
}

}  // namespace cairn::recorder
