// PlacePool: hands out the lowest free number, and takes it back.
//
// Objects are named (call site that created them, place); the place is the lowest number that no living object of that
// site has, so that a loop which makes and frees objects gives them the same names each time round. One pool a (thread,
// site), taken from by that thread only, and one for the numbers of communicators, taken from by all threads; given
// back by any thread. `shared` says whether other threads may be at it at the same time (MPI_THREAD_MULTIPLE); plain
// loads and stores otherwise.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>

#include "base/arena.h"

namespace cairn::recorder {

class PlacePool {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// What `take` would give if it is below 256, else kNone.
  [[nodiscard]] uint32_t peek() const {
    for (uint32_t i = 0; i < kWords; ++i) {
      const uint64_t word = __atomic_load_n(&taken_[i], __ATOMIC_RELAXED);
      if (word != UINT64_MAX) return i * 64 + static_cast<uint32_t>(std::countr_one(word));
    }
    return kNone;
  }

  /// Takes `place` if that is what `take` would give and it is below 64. Where threads do not share.
  bool take_only(uint32_t place) {
    const uint64_t lowest = ~taken_[0] & (taken_[0] + 1);
    if (place >= 64 || lowest != uint64_t{1} << place) return false;
    taken_[0] |= lowest;
    return true;
  }
  /// Gives back what `take_only` took.
  void give_back_only(uint32_t place) {
    assert(place < 64 && (taken_[0] >> place & 1) != 0);
    taken_[0] &= std::rotl(~uint64_t{1}, static_cast<int>(place));
  }

  /// Takes `place`, which `peek` gave. False: another thread has taken it meanwhile.
  bool mark(uint32_t place, bool shared) {
    const uint64_t bit = uint64_t{1} << (place % 64);
    if (shared) return (__atomic_fetch_or(&taken_[place / 64], bit, __ATOMIC_RELAXED) & bit) == 0;
    taken_[place / 64] |= bit;
    return true;
  }

  /// The lowest free place, now taken; kNone without memory.
  uint32_t take(Arena &arena, bool shared) {
    uint32_t first = 0;
    for (PlacePool *pool = this;; first += kWords * 64) {
      for (uint32_t place = pool->peek(); place != kNone; place = pool->peek()) {
        if (pool->mark(place, shared)) return first + place;
      }
      PlacePool *next = __atomic_load_n(&pool->more_, __ATOMIC_ACQUIRE);
      if (next == nullptr) {
        auto *more = arena.create<PlacePool>();
        if (more == nullptr) return kNone;
        // Another thread may have added one meanwhile, which is then in `next`.
        if (__atomic_compare_exchange_n(&pool->more_, &next, more, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
          next = more;
        } else {
          arena.release(more, sizeof *more);
        }
      }
      pool = next;
    }
  }

  void give_back(uint32_t place, bool shared) {
    PlacePool *pool = this;
    for (; place >= kWords * 64; place -= kWords * 64) pool = __atomic_load_n(&pool->more_, __ATOMIC_ACQUIRE);
    assert((__atomic_load_n(&pool->taken_[place / 64], __ATOMIC_RELAXED) >> (place % 64) & 1) != 0);
    const uint64_t bit = uint64_t{1} << (place % 64);
    uint64_t *word = &pool->taken_[place / 64];
    if (shared) {
      __atomic_fetch_and(word, ~bit, __ATOMIC_RELAXED);
    } else {
      *word &= ~bit;
    }
  }

 private:
  static constexpr uint32_t kWords = 4;

  uint64_t taken_[kWords] = {};
  PlacePool *more_ = nullptr;
};

}  // namespace cairn::recorder
