#include "grammar/digram_table.h"

namespace cairn::grammar::detail {

Ref DigramTable::next(Search &search) {
  for (;;) {
    const Table &table = search.in_old ? search.table->old_ : search.table->live_;
    if (table.slots != nullptr) {
      for (;;) {
        const Slot &slot = table.slots[search.slot++ & table.mask];
        if (slot.node == kNull) break;
        if (slot.hash == search.hash && slot.node != kGone) return slot.node;
      }
    }
    if (search.in_old) {
      --search.slot;  // stays on the empty slot
      return kNull;
    }
    search.in_old = true;
    search.slot = search.hash;
  }
}

void DigramTable::put(Table &table, Ref node, uint32_t hash) {
  uint32_t at = hash & table.mask;
  while (table.slots[at].node != kNull && table.slots[at].node != kGone) at = (at + 1) & table.mask;
  if (table.slots[at].node == kNull) ++table.taken;
  table.slots[at] = {node, hash};
  ++table.count;
}

bool DigramTable::erase(Table &table, Ref node, uint32_t hash) {
  if (table.slots == nullptr) return false;
  uint32_t at = hash & table.mask;
  for (; table.slots[at].node != node; at = (at + 1) & table.mask) {
    if (table.slots[at].node == kNull) return false;
  }
  --table.count;
  if (table.slots[(at + 1) & table.mask].node != kNull) {
    table.slots[at].node = kGone;
    return true;
  }
  // Nothing is found past an empty slot, so the gone ones before it can be empty too.
  table.slots[at].node = kNull;
  --table.taken;
  for (at = (at - 1) & table.mask; table.slots[at].node == kGone; at = (at - 1) & table.mask) {
    table.slots[at].node = kNull;
    --table.taken;
  }
  return true;
}

void DigramTable::move_some(Arena &arena) {
  if (old_.slots == nullptr) return;
  for (uint32_t i = 0; i < kMoves && moved_ <= old_.mask; ++i, ++moved_) {
    Slot &slot = old_.slots[moved_];
    if (slot.node == kNull || slot.node == kGone) continue;
    put(live_, slot.node, slot.hash);
    slot.node = kGone;
    --old_.count;
  }
  if (moved_ <= old_.mask) return;
  arena.release_array(old_.slots, static_cast<size_t>(old_.mask) + 1);
  old_ = {};
}

bool DigramTable::grow(Arena &arena) {
  if (old_.slots != nullptr) return false;
  const uint64_t present = live_.slots == nullptr ? 0 : static_cast<uint64_t>(live_.mask) + 1;
  // Mostly gone slots: the same size again is enough.
  uint64_t size = present == 0 ? kFirstSize : present;
  if (present != 0 && uint64_t{live_.count} * 16 > present * 5) size = present * 2;
  if (size > uint64_t{1} << 31) return false;
  Slot *slots = arena.allocate_array<Slot>(size);
  if (slots == nullptr) return false;
  old_ = live_;
  moved_ = 0;
  live_ = {slots, static_cast<uint32_t>(size - 1), 0, 0};
  return true;
}

bool DigramTable::insert(Arena &arena, Ref node, uint32_t hash) {
  move_some(arena);
  const uint64_t size = live_.slots == nullptr ? 0 : static_cast<uint64_t>(live_.mask) + 1;
  if (uint64_t{live_.taken} * 8 >= size * 5 && !grow(arena)) {
    // No memory for a larger one. Moving needs room here too, and a search needs an empty slot to stop at.
    if (size == 0 || (uint64_t{live_.taken} + old_.count + 1) * 8 >= size * 7) return false;
  }
  put(live_, node, hash);
  return true;
}

void DigramTable::remove(Arena &arena, Ref node, uint32_t hash) {
  if (!erase(live_, node, hash)) erase(old_, node, hash);
  move_some(arena);
}

}  // namespace cairn::grammar::detail
