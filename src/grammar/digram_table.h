// DigramTable: which pairs of neighbouring terms a grammar holds, and where.
//
// Owned by a Builder, all memory from its arena; one thread. A cache line holds twelve nodes, with eight bits of each
// one's hash beside them: what a look-up waits for is memory, and that many nodes take half of what open addressing
// with whole hashes took (13 to 26 bytes a digram). What finds no room goes on to the next line, and each line counts
// how many did (as F14 does; Bronson & Shi, 2019), so that removing leaves no tombstones: Sequitur removes with every
// repair. When it fills, a second table takes over and every later change moves a line across, so no change ever waits
// for a whole rehash. The digram itself is not in the table but in its node, which is read when the tag fits (by chance
// in one of some thirty look-ups). Prefetching the line made no difference that could be measured. Cost: a cache line
// or two a look-up. Failure: `insert` says false when there is no room; the grammar stays right, it only misses a
// repetition.
#pragma once

#include <bit>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/arena.h"
#include "grammar/node.h"

namespace cairn::grammar::detail {

class DigramTable {
 public:
  /// The node for which `is_it` holds, of those whose digram may have this hash; or kNull.
  template <typename IsIt>
  [[nodiscard]] Ref find(uint32_t hash, IsIt is_it) const {
    for (const Table *table : {&live_, &old_}) {
      if (table->lines == nullptr) continue;
      if (const Ref found = find_in(*table, hash, is_it); found != kNull) return found;
    }
    return kNull;
  }

  /// `hash_of` gives the hash with which a node was inserted.
  template <typename HashOf>
  bool insert(Arena &arena, Ref node, uint32_t hash, HashOf hash_of) {
    if (old_.lines != nullptr) [[unlikely]]
      move_line(arena, hash_of);
    if (!has_room() && !grow(arena) && !can_squeeze()) return false;
    put(live_, node, hash);
    return true;
  }
  template <typename HashOf>
  void remove(Arena &arena, Ref node, uint32_t hash, HashOf hash_of) {
    if (!erase(live_, node, hash)) erase(old_, node, hash);
    if (old_.lines != nullptr) [[unlikely]]
      move_line(arena, hash_of);
  }

  /// Gives its memory back.
  void release(Arena &arena) {
    for (Table *table : {&live_, &old_}) {
      if (table->lines != nullptr) arena.release_array(table->lines, static_cast<size_t>(table->mask) + 1);
      *table = {};
    }
  }

 private:
  static constexpr uint32_t kNodes = 12;

  struct alignas(64) Line {
    uint8_t tag[kNodes];  ///< 0: none there
    uint8_t passed_on;    ///< nodes that belong here or before and are in a later line; stays at kMany
    uint8_t unused[3];
    Ref node[kNodes];
  };
  static_assert(sizeof(Line) == 64);
  static constexpr uint8_t kMany = UINT8_MAX;

  struct Table {
    Line *lines;
    uint32_t mask;
    uint32_t count;  ///< nodes in it
  };
  static constexpr uint32_t kFirstLines = 8;

  /// The places in a line that have a tag.
  class Places {
   public:
#if defined(__SSE2__)
    Places(const Line &line, uint8_t tag)
        : left_(static_cast<uint32_t>(
                    _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_load_si128(reinterpret_cast<const __m128i *>(line.tag)),
                                                     _mm_set1_epi8(static_cast<char>(tag))))) &
                ((1U << kNodes) - 1)) {}
#else
    Places(const Line &line, uint8_t tag) {
      for (uint32_t place = 0; place < kNodes; ++place) left_ |= static_cast<uint32_t>(line.tag[place] == tag) << place;
    }
#endif
    [[nodiscard]] bool empty() const { return left_ == 0; }
    /// The first of them, which is taken away.
    uint32_t next() {
      const auto place = static_cast<uint32_t>(std::countr_zero(left_));
      left_ &= left_ - 1;
      return place;
    }

   private:
    uint32_t left_ = 0;  ///< a bit a place
  };

  static uint8_t tag_of(uint32_t hash) {
    const auto tag = static_cast<uint8_t>(hash >> 24);
    return tag == 0 ? 1 : tag;
  }

  template <typename IsIt>
  static Ref find_in(const Table &table, uint32_t hash, IsIt is_it) {
    const uint8_t tag = tag_of(hash);
    for (uint32_t gone = 0; gone <= table.mask; ++gone) {
      const Line &line = table.lines[(hash + gone) & table.mask];
      for (Places places(line, tag); !places.empty();) {
        const Ref node = line.node[places.next()];
        if (is_it(node)) return node;
      }
      if (line.passed_on == 0) break;
    }
    return kNull;
  }

  static bool erase(Table &table, Ref node, uint32_t hash);
  static void put(Table &table, Ref node, uint32_t hash);
  [[nodiscard]] uint64_t places() const { return live_.lines == nullptr ? 0 : (uint64_t{live_.mask} + 1) * kNodes; }
  [[nodiscard]] bool has_room() const { return uint64_t{live_.count} * 4 < places() * 3; }
  /// Without memory for a larger one. Moving needs room here, too.
  [[nodiscard]] bool can_squeeze() const { return (uint64_t{live_.count} + old_.count + 1) * 8 < places() * 7; }
  template <typename HashOf>
  void move_line(Arena &arena, HashOf hash_of) {
    Line &line = old_.lines[moved_];
    for (uint32_t place = 0; place < kNodes; ++place) {
      if (line.tag[place] == 0) continue;
      put(live_, line.node[place], hash_of(line.node[place]));
      line.tag[place] = 0;
      --old_.count;
    }
    if (moved_++ == old_.mask) end_move(arena);
  }
  void end_move(Arena &arena);
  bool grow(Arena &arena);

  Table live_ = {};
  Table old_ = {};
  uint32_t moved_ = 0;  ///< lines of `old_` already moved
};

}  // namespace cairn::grammar::detail
