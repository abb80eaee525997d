// HeapShadow: which heap allocation contains an address, for next to nothing per malloc and free.
//
// One byte of shadow for every 32 bytes of address space says where allocations start; an allocation is one byte
// stored, a free one byte read and cleared. An interior pointer is looked up by scanning the shadow backwards, at most
// 128 KiB (4,096 bytes, a word at a time, under a microsecond): larger allocations also leave their start in `cover`,
// one entry for each 128 KiB block whose first byte they hold, or in `Region::wide` for whole regions. Sizes come from
// the allocator itself.
//
// Every malloc and free of the program pays for this, an MPI call only looks: so writing is one byte, and finding
// scans. A tree or hash of allocations costs a lock and tens of nanoseconds each time; reading the allocator's own
// headers finds no start from within a block, and is another thing for each allocator; asking only for buffers that MPI
// sees cannot tell that one was freed and its address used again, which is what a handle to memory has to survive.
//
// Threads: no locks. With an allocator whose allocations are at least 32 bytes apart (`exclusive`, glibc's), a shadow
// byte belongs to one live allocation at a time, whoever frees or allocates it has it to himself, and the allocator's
// own synchronisation orders the two: plain stores suffice. Other allocators get atomic bit operations.
// Memory: 32 MiB of address space for the top, 2 MiB for each 64 MiB that hold allocations, all touched lazily.
// Failure: where a mapping is refused it switches itself off for good; nothing is found from then on.
//
// Zero-initialised is a valid, switched-off state: usable before any constructor has run.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "mpi/preload/preload.h"

namespace cairn::preload {

class HeapShadow {
 public:
  static constexpr size_t kLarge = 128 << 10;

  /// `usable`: malloc_usable_size of the allocator. False if the kernel gives no address space.
  bool switch_on(size_t (*usable)(void *), bool exclusive);
  void switch_off();
  [[nodiscard]] bool is_on() const { return regions_ != nullptr; }

  /// A new allocation; `size` as asked for.
  __attribute__((always_inline)) void note(uintptr_t start, size_t size) {
    Region *regions = __atomic_load_n(&regions_, __ATOMIC_RELAXED);
    if (regions == nullptr || start >> kAddressBits != 0) [[unlikely]]
      return;
    uint8_t *shadow = __atomic_load_n(&regions[start >> kRegionBits].shadow, __ATOMIC_ACQUIRE);
    if (shadow == nullptr || size > kLarge) [[unlikely]] {
      note_slowly(start, size);
      return;
    }
    uint8_t *byte = shadow + granule(start);
    if (exclusive_) [[likely]] {
      __atomic_store_n(byte, start_bit(start), __ATOMIC_RELAXED);
    } else {
      __atomic_fetch_or(byte, start_bit(start), __ATOMIC_RELAXED);
    }
  }

  /// The allocation is about to end. True if it was tracked.
  __attribute__((always_inline)) bool drop(uintptr_t start) {
    Region *regions = __atomic_load_n(&regions_, __ATOMIC_RELAXED);
    if (regions == nullptr || start >> kAddressBits != 0) [[unlikely]]
      return false;
    uint8_t *shadow = __atomic_load_n(&regions[start >> kRegionBits].shadow, __ATOMIC_ACQUIRE);
    if (shadow == nullptr) [[unlikely]]
      return false;
    uint8_t *byte = shadow + granule(start);
    const uint8_t bits = __atomic_load_n(byte, __ATOMIC_RELAXED);
    if ((bits & special_bit(start)) != 0) [[unlikely]]
      return drop_slowly(start, byte);
    if (exclusive_) [[likely]] {
      __atomic_store_n(byte, static_cast<uint8_t>(0), __ATOMIC_RELAXED);
    } else if ((bits & start_bit(start)) != 0) {
      __atomic_fetch_and(byte, static_cast<uint8_t>(~start_bit(start)), __ATOMIC_RELAXED);
    }
    return false;
  }

  /// The live allocation that contains `address`; marks it as tracked. The caller must keep it alive meanwhile: a
  /// program does that for every buffer it hands to MPI.
  bool find(uintptr_t address, CairnAllocation *found);

 private:
#if defined(__x86_64__)
  static constexpr int kAddressBits = 47;
#else
  static constexpr int kAddressBits = 48;
#endif
  static constexpr int kGranuleBits = 5;
  static constexpr int kBlockBits = 17;
  static constexpr int kRegionBits = 26;
  static constexpr size_t kGranules = size_t{1} << (kRegionBits - kGranuleBits);
  static constexpr size_t kBlocks = size_t{1} << (kRegionBits - kBlockBits);

  struct Region {
    uint8_t *shadow;  ///< kGranules bytes, then kBlocks words of `cover`
    uintptr_t wide;   ///< start of the allocation that holds all of this region; low bits unused
  };

  static size_t granule(uintptr_t address) { return (address >> kGranuleBits) & (kGranules - 1); }
  /// Bits 0 to 3: an allocation starts at +0, +8, +16, +24. Bits 4 to 7: that one is special, which is to say large or
  /// tracked, so that freeing it takes the slow way.
  static uint8_t start_bit(uintptr_t address) { return static_cast<uint8_t>(1 << ((address >> 3) & 3)); }
  static uint8_t special_bit(uintptr_t address) { return static_cast<uint8_t>(16 << ((address >> 3) & 3)); }

  uint8_t *shadow_of(uintptr_t address) const;
  uint8_t *make_shadow(uintptr_t address);
  uintptr_t *cover_of(uintptr_t address, bool make);
  bool set_cover(uintptr_t start, uintptr_t end, uintptr_t value);
  /// The cover entry that says whether a large allocation is tracked (its lowest bit), or nullptr if it isn't large.
  uintptr_t *large_entry(uintptr_t start);
  [[gnu::cold]] void note_slowly(uintptr_t start, size_t size);
  [[gnu::cold]] bool drop_slowly(uintptr_t start, uint8_t *byte);
  uintptr_t nearest_start(uintptr_t address) const;
  uintptr_t covering_start(uintptr_t address);

  Region *regions_;
  size_t (*usable_)(void *);
  bool exclusive_;
};

}  // namespace cairn::preload
