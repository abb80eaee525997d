#include "replay/slots.h"

#include <algorithm>

namespace cairn::replay {

void Slot::replace_first(Word handle, Word null) {
  if (held_.empty()) return;
  if (handle == null) {
    held_.erase(held_.begin());
  } else {
    held_.front() = handle;
  }
}

void Slot::settle(Word null) {
  if (given_back_ != 0) held_.erase(std::remove(held_.begin(), held_.end(), null), held_.end());
  taken_ = 0;
  given_back_ = 0;
}

}  // namespace cairn::replay
