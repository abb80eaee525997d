// Signature and SignatureTable: the distinct calls of one thread, in order of first occurrence.
//
// A signature is a packed row (trace::pack_row's form), its statistics, and, if the grammar predicted it or it was
// encoded again, a memo of the raw arguments with which it was last encoded (memo.h): one cache line, so that programs
// which never repeat themselves stay small.
//
// Owned by one thread; memory from the arena, never throws; `intern` gives nullptr when there is no memory.
#pragma once

#include <bit>
#include <cstdint>

#include "base/arena.h"
#include "base/growable.h"
#include "mpi/names/memo.h"
#include "mpi/store/row_bytes.h"
#include "trace/model/record.h"

namespace cairn::recorder {

struct alignas(64) Signature {
  uint64_t count;  ///< statistics, in nanoseconds
  uint64_t sum;
  uint64_t minimum;
  uint64_t maximum;
  uint32_t *histogram;   ///< timing::CallStats::kBuckets counters, from the second call on
  const uint8_t *bytes;  ///< the packed row
  uint32_t size;         ///< of `bytes`
  uint32_t id;           ///< symbol
  Memo *memo;            ///< nullptr until it was encoded where the grammar predicted it, or again

  void add_time(Arena &arena, uint64_t nanoseconds) {
    const uint64_t before = count++;
    sum += nanoseconds;
    if (histogram == nullptr) [[unlikely]]
      return begin_statistics(arena, before, nanoseconds);
    add_to(histogram, nanoseconds);
  }

  /// The rest of `add_time` where the histogram is known.
  void add_to(uint32_t *counters, uint64_t nanoseconds) {
    if (nanoseconds < minimum) minimum = nanoseconds;
    if (nanoseconds > maximum) maximum = nanoseconds;
    ++counters[bucket_of(nanoseconds)];
  }

 private:
  /// timing::CallStats::bucket, inlined.
  static unsigned bucket_of(uint64_t nanoseconds) {
    if (nanoseconds < 2) return 0;
    const auto half = static_cast<unsigned>(std::bit_width(nanoseconds)) - 2;
    const auto bucket = 2 * half + static_cast<unsigned>(nanoseconds >> half);  // the two leading bits are 2 or 3
    return bucket < timing::CallStats::kBuckets ? bucket : timing::CallStats::kBuckets - 1;
  }
  void begin_statistics(Arena &arena, uint64_t before, uint64_t nanoseconds);
};
static_assert(sizeof(Signature) == 64);

class SignatureTable {
 public:
  /// The signature with those bytes, new if need be. nullptr without memory.
  Signature *intern(Arena &arena, const uint8_t *bytes, uint32_t size);
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(signatures_.size()); }
  /// Of all packed rows.
  [[nodiscard]] size_t bytes() const { return bytes_; }
  Signature &operator[](uint32_t id) { return signatures_[id]; }
  const Signature &operator[](uint32_t id) const { return signatures_[id]; }
  void release(Arena &arena);

 private:
  struct Slot {
    uint32_t hash;
    uint32_t number;  ///< id + 1; 0: empty
  };
  /// Open addressing; `capacity` is a power of two.
  struct Slots {
    Slot *at = nullptr;
    uint32_t capacity = 0;
  };
  bool grow(Arena &arena);
  void move_some(Arena &arena);
  Signature *find(const Slots &slots, uint32_t hash, const uint8_t *bytes, uint32_t size);
  static void insert(const Slots &slots, Slot slot);

  Chunked<Signature, 64> signatures_;
  RowBytes rows_;
  Slots slots_;
  Slots old_;           ///< what `slots_` is to take over, a few at each call: no call waits for all
  uint32_t moved_ = 0;  ///< of them
  size_t bytes_ = 0;
};

}  // namespace cairn::recorder
