#include "mpi/preload/heap_shadow.h"

#include <string.h>
#include <sys/mman.h>

namespace cairn::preload {
namespace {

constexpr uintptr_t kTracked = 1;  ///< in a cover entry; starts are multiples of 8

void *reserve(size_t size) {
  void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, size, MADV_NOHUGEPAGE);  // sparse by nature: a huge page would hold mostly zeros
  return memory;
}

}  // namespace

bool HeapShadow::switch_on(size_t (*usable)(void *), bool exclusive) {
  usable_ = usable;
  exclusive_ = exclusive;
  auto *regions = static_cast<Region *>(reserve(sizeof(Region) << (kAddressBits - kRegionBits)));
  __atomic_store_n(&regions_, regions, __ATOMIC_RELEASE);
  return regions != nullptr;
}

void HeapShadow::switch_off() {
  // Other threads may be writing to it: the memory stays.
  __atomic_store_n(&regions_, static_cast<Region *>(nullptr), __ATOMIC_RELEASE);
}

uint8_t *HeapShadow::shadow_of(uintptr_t address) const {
  Region *regions = __atomic_load_n(&regions_, __ATOMIC_RELAXED);
  if (regions == nullptr || address >> kAddressBits != 0) return nullptr;
  return __atomic_load_n(&regions[address >> kRegionBits].shadow, __ATOMIC_ACQUIRE);
}

uint8_t *HeapShadow::make_shadow(uintptr_t address) {
  Region *regions = __atomic_load_n(&regions_, __ATOMIC_RELAXED);
  if (regions == nullptr || address >> kAddressBits != 0) return nullptr;
  uint8_t **slot = &regions[address >> kRegionBits].shadow;
  uint8_t *shadow = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if (shadow != nullptr) return shadow;
  constexpr size_t size = kGranules + kBlocks * sizeof(uintptr_t);
  auto *fresh = static_cast<uint8_t *>(reserve(size));
  if (fresh == nullptr) {
    switch_off();
    return nullptr;
  }
  if (__atomic_compare_exchange_n(slot, &shadow, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return fresh;
  munmap(fresh, size);  // another thread was first
  return shadow;
}

uintptr_t *HeapShadow::cover_of(uintptr_t address, bool make) {
  uint8_t *shadow = make ? make_shadow(address) : shadow_of(address);
  if (shadow == nullptr) return nullptr;
  return reinterpret_cast<uintptr_t *>(shadow + kGranules) + ((address >> kBlockBits) & (kBlocks - 1));
}

/// Writes `value` for all blocks whose first byte lies in (start, end). The first of them always has its entry in
/// `cover`, whole regions after it one in `wide`.
bool HeapShadow::set_cover(uintptr_t start, uintptr_t end, uintptr_t value) {
  constexpr uintptr_t block = uintptr_t{1} << kBlockBits;
  constexpr uintptr_t region = uintptr_t{1} << kRegionBits;
  Region *regions = __atomic_load_n(&regions_, __ATOMIC_RELAXED);
  if (regions == nullptr || end >> kAddressBits != 0) return false;
  const uintptr_t first = ((start >> kBlockBits) + 1) << kBlockBits;
  for (uintptr_t address = first; address < end;) {
    if (address != first && (address & (region - 1)) == 0 && end - address >= region) {
      __atomic_store_n(&regions[address >> kRegionBits].wide, value, __ATOMIC_RELEASE);
      address += region;
      continue;
    }
    uintptr_t *entry = cover_of(address, value != 0);
    if (entry != nullptr) {
      __atomic_store_n(entry, value, __ATOMIC_RELEASE);
    } else if (value != 0) {
      return false;
    }
    address += block;
  }
  return true;
}

uintptr_t *HeapShadow::large_entry(uintptr_t start) {
  uintptr_t *entry = cover_of(((start >> kBlockBits) + 1) << kBlockBits, false);
  if (entry == nullptr || (__atomic_load_n(entry, __ATOMIC_ACQUIRE) & ~kTracked) != start) return nullptr;
  return entry;
}

void HeapShadow::note_slowly(uintptr_t start, size_t size) {
  uint8_t *shadow = make_shadow(start);
  if (shadow == nullptr) return;
  uint8_t bits = start_bit(start);
  const size_t usable = size > kLarge ? usable_(reinterpret_cast<void *>(start)) : 0;
  if (usable > kLarge) {
    if (!set_cover(start, start + usable, start)) return;
    bits |= special_bit(start);
  }
  if (exclusive_) {
    __atomic_store_n(shadow + granule(start), bits, __ATOMIC_RELAXED);
  } else {
    __atomic_fetch_or(shadow + granule(start), bits, __ATOMIC_RELAXED);
  }
}

bool HeapShadow::drop_slowly(uintptr_t start, uint8_t *byte) {
  bool tracked = true;
  if (uintptr_t *entry = large_entry(start); entry != nullptr) {
    tracked = (__atomic_load_n(entry, __ATOMIC_ACQUIRE) & kTracked) != 0;
    set_cover(start, start + usable_(reinterpret_cast<void *>(start)), 0);
  }
  __atomic_fetch_and(byte, static_cast<uint8_t>(~(start_bit(start) | special_bit(start))), __ATOMIC_RELAXED);
  return tracked;
}

/// The greatest start at or below `address` that is at most kLarge bytes away; 0 if there is none.
uintptr_t HeapShadow::nearest_start(uintptr_t address) const {
  uintptr_t granule_start = address & ~uintptr_t{31};
  const uintptr_t lowest = address > kLarge ? (address - kLarge) & ~uintptr_t{31} : 0;
  // In the address's own granule only starts that don't lie behind it count.
  unsigned bits_allowed = (2U << ((address >> 3) & 3)) - 1;
  const uint8_t *shadow = shadow_of(granule_start);
  while (true) {
    if (shadow != nullptr) {
      const unsigned bits = __atomic_load_n(shadow + granule(granule_start), __ATOMIC_RELAXED) & bits_allowed;
      if (bits != 0) return granule_start + 8 * (31 - static_cast<unsigned>(__builtin_clz(bits)));
    }
    bits_allowed = 15;
    // Eight granules at a time while they are empty.
    if (granule_start <= lowest) return 0;
    granule_start -= 32;
    if (((granule_start + 32) & ((uintptr_t{1} << kRegionBits) - 1)) == 0) shadow = shadow_of(granule_start);
    while ((granule_start & 255) == 224 && granule_start - 224 > lowest) {
      uint64_t word = 0;
      if (shadow != nullptr) memcpy(&word, shadow + granule(granule_start - 224), sizeof word);
      if (word != 0) break;
      granule_start -= 256;
      if (((granule_start + 32) & ((uintptr_t{1} << kRegionBits) - 1)) == 0) shadow = shadow_of(granule_start);
    }
  }
}

uintptr_t HeapShadow::covering_start(uintptr_t address) {
  Region *regions = __atomic_load_n(&regions_, __ATOMIC_RELAXED);
  if (regions == nullptr) return 0;
  uintptr_t start = 0;
  if (uintptr_t *entry = cover_of(address, false); entry != nullptr) {
    start = __atomic_load_n(entry, __ATOMIC_ACQUIRE) & ~kTracked;
  }
  if (start == 0) start = __atomic_load_n(&regions[address >> kRegionBits].wide, __ATOMIC_ACQUIRE);
  // An entry of an allocation that has gone, or whose byte isn't there, is no allocation.
  const uint8_t *shadow = start == 0 ? nullptr : shadow_of(start);
  if (shadow == nullptr) return 0;
  return (__atomic_load_n(shadow + granule(start), __ATOMIC_RELAXED) & start_bit(start)) != 0 ? start : 0;
}

bool HeapShadow::find(uintptr_t address, CairnAllocation *found) {
  if (address >> kAddressBits != 0 || !is_on()) return false;
  // Deep inside a large one there is nothing to scan.
  uintptr_t start = covering_start(address);
  size_t size = start == 0 ? 0 : usable_(reinterpret_cast<void *>(start));
  if (start == 0 || address - start >= size) {
    start = nearest_start(address);
    if (start == 0) return false;
    size = usable_(reinterpret_cast<void *>(start));
    if (address != start && address - start >= size) return false;
  }
  uint8_t *shadow = shadow_of(start);
  if (shadow == nullptr) return false;
  if (uintptr_t *entry = large_entry(start); entry != nullptr) __atomic_fetch_or(entry, kTracked, __ATOMIC_RELAXED);
  __atomic_fetch_or(shadow + granule(start), special_bit(start), __ATOMIC_RELAXED);
  *found = {start, size};
  return true;
}

}  // namespace cairn::preload
