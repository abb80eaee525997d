// RecalledMemos: memos of calls that came again without being foreseen, by keys that say what they compare
// (call/recall.h).
//
// A hint: a memo that is found may not apply, and one that was kept may not be found. A thread's own; memory from the
// arena, never throws. Memos of a sequence that is left are forgotten with it (`clear`), and so many are kept at most
// that they take a sixteenth of the arena.
#pragma once

#include <cstdint>

#include "base/arena.h"
#include "mpi/names/memo.h"

namespace cairn::recorder {

class RecalledMemos {
 public:
  /// What was kept last with that key, or one like it; nullptr: nothing.
  [[nodiscard]] Memo *find(uint64_t key) const {
    for (uint32_t at = place(key); capacity_ != 0 && slots_[at].memo != nullptr; at = (at + 1) & (capacity_ - 1)) {
      if (slots_[at].key == key) return slots_[at].memo;
    }
    return nullptr;
  }
  /// Nothing where there is no memory, or there are many already.
  void keep(Arena &arena, uint64_t key, Memo *memo);
  /// So many that no more are kept.
  [[nodiscard]] bool is_full(const Arena &arena) const;
  void clear();

 private:
  struct Slot {
    uint64_t key;
    Memo *memo;
  };
  [[nodiscard]] uint32_t place(uint64_t key) const { return static_cast<uint32_t>(key) & (capacity_ - 1); }
  bool grow(Arena &arena);
  void insert(uint64_t key, Memo *memo);

  Slot *slots_ = nullptr;
  uint32_t capacity_ = 0;  ///< a power of two, or 0
  uint32_t count_ = 0;
};

}  // namespace cairn::recorder
