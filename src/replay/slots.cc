#include "replay/slots.h"

#include <algorithm>

namespace cairn::replay {

size_t Slot::place_of(uint32_t thread) const {
  if (held_.front().thread == thread) return 0;
  const auto own =
      std::find_if(held_.begin(), held_.end(), [thread](const Held &each) { return each.thread == thread; });
  return own == held_.end() ? 0 : static_cast<size_t>(own - held_.begin());
}

void Slot::know(Word handle, uint32_t thread) {
  const auto same = [handle](const Held &each) { return each.handle == handle; };
  if (std::none_of(held_.begin(), held_.end(), same)) add(handle, thread);
}

void Slot::drop(uint32_t thread) {
  if (const size_t place = place_of(thread); place != 0) {
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(place));
  } else {
    held_.pop_front();
  }
}

void Slot::replace(uint32_t thread, Word handle, Word null) {
  if (held_.empty()) return;
  if (handle == null) return drop(thread);
  held_[place_of(thread)].handle = handle;
}

bool Slot::take(uint32_t thread, Word *handle) {
  if (held_.empty()) return false;
  *handle = use(thread);
  drop(thread);
  return true;
}

}  // namespace cairn::replay
