#include "mpi/signatures.h"

#include <bit>
#include <cstring>

#include "base/hash.h"

namespace cairn::recorder {
namespace {

/// trace::CallStats::bucket, inlined on the hot path.
int bucket_of(uint64_t nanoseconds) {
  if (nanoseconds < 2) return static_cast<int>(nanoseconds);
  const int octave = static_cast<int>(std::bit_width(nanoseconds)) - 1;
  const int bucket = 2 * octave + static_cast<int>((nanoseconds >> (octave - 1)) & 1);
  return bucket < trace::CallStats::kBuckets ? bucket : trace::CallStats::kBuckets - 1;
}

}  // namespace

void Signature::add_time(Arena &arena, uint64_t nanoseconds) {
  if (count++ == 0) {
    sum = minimum = maximum = nanoseconds;
    return;
  }
  if (histogram == nullptr) {
    histogram = arena.allocate_array<uint32_t>(trace::CallStats::kBuckets);
    if (histogram != nullptr && count == 2) ++histogram[bucket_of(sum)];
  }
  sum += nanoseconds;
  if (nanoseconds < minimum) minimum = nanoseconds;
  if (nanoseconds > maximum) maximum = nanoseconds;
  if (histogram != nullptr) ++histogram[bucket_of(nanoseconds)];
}

bool SignatureTable::grow(Arena &arena) {
  const uint32_t capacity = capacity_ == 0 ? 128 : capacity_ * 2;
  auto *slots = arena.allocate_array<uint32_t>(capacity);
  if (slots == nullptr) return false;
  for (uint32_t id = 0; id < signatures_.size(); ++id) {
    uint32_t at = static_cast<uint32_t>(signatures_[id].hash) & (capacity - 1);
    while (slots[at] != 0) at = (at + 1) & (capacity - 1);
    slots[at] = id + 1;
  }
  arena.release_array(slots_, capacity_);
  slots_ = slots;
  capacity_ = capacity;
  return true;
}

Signature *SignatureTable::intern(Arena &arena, const uint8_t *bytes, uint32_t size, bool *is_new) {
  const uint64_t hash = hash64({bytes, size});
  *is_new = false;
  if ((signatures_.size() + 1) * 2 > capacity_ && !grow(arena)) return nullptr;
  uint32_t at = static_cast<uint32_t>(hash) & (capacity_ - 1);
  for (; slots_[at] != 0; at = (at + 1) & (capacity_ - 1)) {
    Signature &known = signatures_[slots_[at] - 1];
    if (known.hash == hash && known.size == size && memcmp(known.bytes, bytes, size) == 0) return &known;
  }
  auto *copy = static_cast<uint8_t *>(arena.allocate(size));
  if (copy == nullptr) return nullptr;
  Signature *added = signatures_.add(arena);
  if (added == nullptr) {
    arena.release(copy, size);
    return nullptr;
  }
  memcpy(copy, bytes, size);
  added->bytes = copy;
  added->size = size;
  added->hash = hash;
  added->id = static_cast<uint32_t>(signatures_.size() - 1);
  slots_[at] = static_cast<uint32_t>(signatures_.size());
  *is_new = true;
  return added;
}

void SignatureTable::release(Arena &arena) {
  for (uint32_t id = 0; id < size(); ++id) {
    Signature &signature = signatures_[id];
    arena.release(const_cast<uint8_t *>(signature.bytes), signature.size);
    arena.release_array(signature.histogram, trace::CallStats::kBuckets);
    arena.release_array(signature.names, signature.name_capacity);
  }
  signatures_.release(arena);
  arena.release_array(slots_, capacity_);
  slots_ = nullptr;
  capacity_ = 0;
}

}  // namespace cairn::recorder
