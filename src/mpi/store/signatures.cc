#include "mpi/store/signatures.h"

#include <cstring>

#include "base/hash.h"

namespace cairn::recorder {

void Signature::begin_statistics(Arena &arena, uint64_t before, uint64_t nanoseconds) {
  if (before == 0) {
    minimum = maximum = nanoseconds;
    return;
  }
  const uint64_t first = minimum;
  if (nanoseconds < minimum) minimum = nanoseconds;
  if (nanoseconds > maximum) maximum = nanoseconds;
  histogram = arena.allocate_array<uint32_t>(timing::CallStats::kBuckets);
  if (histogram == nullptr) return;
  if (before == 1) ++histogram[bucket_of(first)];
  ++histogram[bucket_of(nanoseconds)];
}

void SignatureTable::insert(const Slots &slots, Slot slot) {
  uint32_t at = slot.hash & (slots.capacity - 1);
  while (slots.at[at].number != 0) at = (at + 1) & (slots.capacity - 1);
  slots.at[at] = slot;
}

bool SignatureTable::grow(Arena &arena) {
  const uint32_t capacity = slots_.capacity == 0 ? 128 : slots_.capacity * 2;
  auto *slots = arena.allocate_array<Slot>(capacity);
  if (slots == nullptr) return false;
  while (old_.at != nullptr) move_some(arena);  // long done
  old_ = slots_;
  moved_ = 0;
  slots_ = {slots, capacity};
  return true;
}

void SignatureTable::move_some(Arena &arena) {
  constexpr uint32_t kAtOnce = 8;  // two would do: the old slots are half full, and the new ones twice as many
  for (uint32_t i = 0; i < kAtOnce && moved_ < old_.capacity; ++i, ++moved_) {
    if (old_.at[moved_].number != 0) insert(slots_, old_.at[moved_]);
  }
  if (moved_ < old_.capacity) return;
  arena.release_array(old_.at, old_.capacity);
  old_ = {};
}

Signature *SignatureTable::find(const Slots &slots, uint32_t hash, const uint8_t *bytes, uint32_t size) {
  for (uint32_t at = hash & (slots.capacity - 1); slots.at[at].number != 0; at = (at + 1) & (slots.capacity - 1)) {
    if (slots.at[at].hash != hash) continue;
    Signature &known = signatures_[slots.at[at].number - 1];
    if (known.size == size && memcmp(known.bytes, bytes, size) == 0) return &known;
  }
  return nullptr;
}

Signature *SignatureTable::intern(Arena &arena, const uint8_t *bytes, uint32_t size) {
  const auto hash = static_cast<uint32_t>(hash64({bytes, size}));
  const size_t wanted = signatures_.size() + 1;
  // Without memory for more slots these do until they are nearly full.
  if (wanted * 2 > slots_.capacity && !grow(arena) && wanted * 8 > slots_.capacity * size_t{7}) return nullptr;
  if (Signature *known = find(slots_, hash, bytes, size)) return known;
  if (old_.at != nullptr) {
    if (Signature *known = find(old_, hash, bytes, size)) return known;
    move_some(arena);
  }
  const uint8_t *copy = rows_.add(arena, bytes, size);
  if (copy == nullptr) return nullptr;
  Signature *added = signatures_.add(arena);
  if (added == nullptr) {
    rows_.undo(size);
    return nullptr;
  }
  added->bytes = copy;
  added->size = size;
  added->id = static_cast<uint32_t>(signatures_.size() - 1);
  bytes_ += size;
  insert(slots_, {hash, static_cast<uint32_t>(signatures_.size())});
  return added;
}

void SignatureTable::release(Arena &arena) {
  for (uint32_t id = 0; id < size(); ++id) {
    Signature &signature = signatures_[id];
    arena.release_array(signature.histogram, timing::CallStats::kBuckets);
    if (Memo *memo = signature.memo; memo != nullptr) {
      if (memo->has_names) arena.release_array(memo->names, memo->name_capacity);
      arena.release(memo, sizeof *memo);
    }
  }
  signatures_.release(arena);
  rows_.release(arena);
  arena.release_array(slots_.at, slots_.capacity);
  arena.release_array(old_.at, old_.capacity);
  slots_ = old_ = {};
  bytes_ = 0;
}

}  // namespace cairn::recorder
