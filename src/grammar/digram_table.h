// DigramTable: which pairs of neighbouring terms a grammar holds, and where.
//
// Owned by a Builder, all memory from its arena; one thread. Open addressing; when it fills, a second table takes
// over and every later change moves a few slots across, so no change ever waits for a whole rehash.
// Cost: a cache line or two a look-up. Failure: `insert` says false when there is no room; the grammar stays right,
// it only misses a repetition.
#pragma once

#include <cstdint>

#include "base/arena.h"
#include "grammar/node.h"

namespace cairn::grammar::detail {

class DigramTable {
 public:
  /// The first slot to look at for a hash; hand it to `next` until that gives kNull.
  struct Search {
    const DigramTable *table;
    uint32_t hash;
    uint32_t slot;
    bool in_old;
  };
  [[nodiscard]] Search search(uint32_t hash) const { return {this, hash, hash, false}; }
  /// The next node whose digram has this hash, or kNull.
  static Ref next(Search &search);

  bool insert(Arena &arena, Ref node, uint32_t hash);
  void remove(Arena &arena, Ref node, uint32_t hash);
  /// Brings the line for `hash` near.
  void prefetch(uint32_t hash) const {
    if (live_.slots != nullptr) __builtin_prefetch(live_.slots + (hash & live_.mask));
  }

  /// Gives its memory back.
  void release(Arena &arena) {
    for (Table *table : {&live_, &old_}) {
      if (table->slots != nullptr) arena.release_array(table->slots, static_cast<size_t>(table->mask) + 1);
      *table = {};
    }
  }

 private:
  struct Slot {
    Ref node;
    uint32_t hash;
  };
  struct Table {
    Slot *slots;
    uint32_t mask;
    uint32_t taken;  ///< slots that are not empty, gone ones included
    uint32_t count;  ///< nodes in it
  };
  static constexpr Ref kGone = UINT32_MAX;
  static constexpr uint32_t kFirstSize = 64;
  static constexpr uint32_t kMoves = 8;  ///< slots moved by a change

  static bool erase(Table &table, Ref node, uint32_t hash);
  static void put(Table &table, Ref node, uint32_t hash);
  void move_some(Arena &arena);
  bool grow(Arena &arena);

  Table live_ = {};
  Table old_ = {};
  uint32_t moved_ = 0;  ///< slots of `old_` already moved
};

}  // namespace cairn::grammar::detail
