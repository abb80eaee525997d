#include "mpi/store/recalled_memos.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace cairn::recorder {
namespace {

constexpr uint32_t kFirst = 64;
constexpr size_t kMost = 16384;

}  // namespace

bool RecalledMemos::is_full(const Arena &arena) const {
  return count_ >= std::min(kMost, arena.limit() / 16 / sizeof(Memo));
}

void RecalledMemos::clear() {
  if (count_ != 0) memset(slots_, 0, capacity_ * sizeof(Slot));
  count_ = 0;
}

void RecalledMemos::insert(uint64_t key, Memo *memo) {
  uint32_t at = place(key);
  while (slots_[at].memo != nullptr && slots_[at].key != key) at = (at + 1) & (capacity_ - 1);
  if (slots_[at].memo == nullptr) ++count_;
  slots_[at] = {key, memo};
}

bool RecalledMemos::grow(Arena &arena) {
  const uint32_t capacity = capacity_ == 0 ? kFirst : capacity_ * 2;
  Slot *const old = slots_;
  const uint32_t old_capacity = capacity_;
  auto *const slots = arena.allocate_array<Slot>(capacity);
  if (slots == nullptr) return false;
  slots_ = slots;
  capacity_ = capacity;
  count_ = 0;
  for (uint32_t i = 0; i < old_capacity; ++i) {
    if (old[i].memo != nullptr) insert(old[i].key, old[i].memo);
  }
  arena.release_array(old, old_capacity);
  return true;
}

void RecalledMemos::keep(Arena &arena, uint64_t key, Memo *memo) {
  assert(key != 0 && memo != nullptr);
  if (is_full(arena)) return;
  if (2 * (count_ + 1) > capacity_ && !grow(arena)) return;
  insert(key, memo);
}

}  // namespace cairn::recorder
