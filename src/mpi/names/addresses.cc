#include "mpi/names/addresses.h"

#include <algorithm>
#include <atomic>
#include <new>

#include "base/growable.h"
#include "mpi/names/device_memory.h"
#include "mpi/names/memory_map.h"
#include "mpi/names/ranges.h"
#include "mpi/names/sites.h"
#include "mpi/names/spin_lock.h"

namespace cairn::recorder {
namespace {

constexpr size_t kUnknownSlots = 4096;
constexpr uint64_t kFirstPages = 64 << 10;  ///< nothing is ever mapped below

struct Piece {
  uintptr_t low;
  uintptr_t high;
};

/// The process's mappings at one moment, in the arena.
class Snapshot {
 public:
  explicit Snapshot(Arena &arena) : arena_(arena) {
    for_each_mapping([this](const MapEntry &entry) { return pieces_.push(arena_, {entry.low, entry.high}); });
  }
  ~Snapshot() { pieces_.release(arena_); }
  Snapshot(const Snapshot &) = delete;
  Snapshot &operator=(const Snapshot &) = delete;

  [[nodiscard]] const Piece *containing(uintptr_t address) const {
    const Piece *end = pieces_.data() + pieces_.size();
    const Piece *found =
        std::partition_point(pieces_.data(), end, [address](const Piece &piece) { return piece.high <= address; });
    return found != end && found->low <= address ? found : nullptr;
  }

  /// Whether all of it is mapped, be it in several pieces.
  [[nodiscard]] bool covers(const Range &range) const {
    uintptr_t at = range.low;
    while (at < range.high) {
      const Piece *piece = containing(at);
      if (piece == nullptr) return false;
      at = piece->high;
    }
    return true;
  }

 private:
  Arena &arena_;
  Growable<Piece> pieces_;
};

int64_t distance(uintptr_t from, uintptr_t to) { return static_cast<int64_t>(to - from); }

}  // namespace

struct AddressSpace::State {
  State(Arena &memory, Modules &loaded, const CairnPreload &table)
      : arena(memory), modules(loaded), preload(table), heap(memory), mpi(memory), devices(memory), mappings(memory) {}

  Arena &arena;
  Modules &modules;
  const CairnPreload &preload;
  DeviceMemory device;

  SpinLock lock;  ///< for all below; nothing is allocated from the program's heap while it is held
  Ranges heap;
  ToldSegment told = nullptr;
  Ranges mpi;
  std::atomic<size_t> mpi_count{0};  ///< most programs have none: seen without the lock
  Ranges devices;
  Ranges mappings;
  uint32_t mappings_epoch = 0;
  uintptr_t unknown[kUnknownSlots] = {};  ///< open addressing; unknown_number beside it
  int64_t unknown_number[kUnknownSlots] = {};
  int64_t unknown_count = 0;

  static std::atomic<State *> current;

  static void forget(uintptr_t start) {
    State *state = current.load(std::memory_order_acquire);
    if (state == nullptr) return;
    const SpinGuard guard(state->lock);
    if (const Range *range = state->heap.containing(start); range != nullptr && range->low == start) {
      state->end_segment(*range);
    }
  }

  void end_segment(const Range &range) {
    const int64_t number = range.number;
    heap.remove(range.low);
    if (told != nullptr) told(trace::kHeap, number, 0);
  }

  /// Whatever was there has ended, if unseen.
  const Range *begin_segment(uintptr_t low, uintptr_t high) {
    for (const Range *old = heap.first_above(low); old != nullptr && old->low < high; old = heap.first_above(low)) {
      end_segment(*old);
    }
    const Range *range = heap.add(low, high);
    if (range != nullptr && told != nullptr) told(trace::kHeap, range->number, high - low);
    return range;
  }

  bool in_mpi_memory(uintptr_t address, Address &result) {
    if (mpi_count.load(std::memory_order_acquire) == 0) return false;
    const SpinGuard guard(lock);
    const Range *range = mpi.containing(address);
    if (range == nullptr) return false;
    result = {trace::kMpiMemory, range->number, distance(range->low, address)};
    return true;
  }

  bool in_heap(uintptr_t address, Address &result) {
    CairnAllocation allocation = {};
    if (preload.find_allocation == nullptr || !preload.find_allocation(address, &allocation)) return false;
    const SpinGuard guard(lock);
    const uintptr_t high = allocation.start + (allocation.size == 0 ? 1 : allocation.size);
    const Range *range = heap.containing(allocation.start);
    if (range == nullptr || range->low != allocation.start || range->high != high) {
      range = begin_segment(allocation.start, high);
    }
    if (range == nullptr) return false;
    result = {trace::kHeap, range->number, distance(range->low, address)};
    return true;
  }

  bool in_static(uintptr_t address, int module, Address &result) {
    if (module < 0) return false;
    const ModuleInfo &info = modules[module];
    result = {trace::kStatic, module, distance(info.load_base, address)};
    return true;
  }

  bool in_device(uintptr_t address, Address &result) {
    DeviceMemory::Allocation allocation = {};
    if (!device.find(address, allocation)) return false;
    const SpinGuard guard(lock);
    const uintptr_t high = allocation.start + allocation.size;
    const Range *range = devices.containing(allocation.start);
    if (range == nullptr || range->low != allocation.start || range->high != high) {
      range = devices.add(allocation.start, high);
      if (range != nullptr && told != nullptr) told(trace::kDevice, range->number, allocation.size);
    }
    if (range == nullptr) return false;
    result = {trace::kDevice, range->number, distance(range->low, address)};
    return true;
  }

  bool in_known_mapping(uintptr_t address, Address &result) {
    const Range *range = mappings.containing(address);
    if (range == nullptr) return false;
    result = {trace::kMapping, range->number, distance(range->low, address)};
    return true;
  }

  bool in_mapping(uintptr_t address, Address &result) {
    const uint32_t epoch = preload.mapping_epoch == nullptr ? 0 : *preload.mapping_epoch;
    {
      const SpinGuard guard(lock);
      if (mappings_epoch == epoch && in_known_mapping(address, result)) return true;
    }
    const Snapshot snapshot(arena);
    const Piece *piece = snapshot.containing(address);
    uintptr_t low = 0;
    uintptr_t high = 0;
    {
      const SpinGuard guard(lock);
      if (mappings_epoch != epoch) {
        mappings_epoch = epoch;
        for (const Range *range = mappings.first_above(0); range != nullptr;) {
          const uintptr_t end = range->high;
          if (!snapshot.covers(*range)) mappings.remove(range->low);
          range = mappings.first_above(end);
        }
      }
      if (piece == nullptr) return false;
      if (in_known_mapping(address, result)) return true;
      // The kernel joins neighbours: what had a number before keeps it.
      low = piece->low;
      high = piece->high;
      for (const Range *range = mappings.first_above(low); range != nullptr && range->low < high;
           range = mappings.first_above(range->high)) {
        if (range->low > address) {
          high = range->low;
        } else {
          low = range->high;
        }
      }
      const Range *range = mappings.add(low, high);
      if (range == nullptr) return false;
      result = {trace::kMapping, range->number, distance(low, address)};
    }
    if (preload.watch != nullptr) preload.watch(low, high);
    return true;
  }

  Address unknown_address(uintptr_t address) {
    const SpinGuard guard(lock);
    size_t at = (address * 0x9e3779b97f4a7c15U >> 32) % kUnknownSlots;
    for (; unknown[at] != 0; at = (at + 1) % kUnknownSlots) {
      if (unknown[at] == address) return {trace::kUnknown, unknown_number[at], 0};
    }
    // Past half of the table the others share the next number.
    if (unknown_count * 2 >= static_cast<int64_t>(kUnknownSlots)) return {trace::kUnknown, unknown_count, 0};
    unknown[at] = address;
    unknown_number[at] = unknown_count;
    return {trace::kUnknown, unknown_count++, 0};
  }
};

std::atomic<AddressSpace::State *> AddressSpace::State::current{nullptr};

AddressSpace::AddressSpace(Arena &arena, Modules &modules, const CairnPreload &preload) : state_(nullptr) {
  void *memory = arena.allocate(sizeof(State));
  if (memory == nullptr) return;
  state_ = new (memory) State(arena, modules, preload);
  if (preload.module_epoch != nullptr) modules.use_epoch(preload.module_epoch);
  if (preload.mapping_epoch != nullptr) state_->mappings_epoch = *preload.mapping_epoch;
  State::current.store(state_, std::memory_order_release);
  if (preload.forget != nullptr) __atomic_store_n(preload.forget, &State::forget, __ATOMIC_RELEASE);
}

Address AddressSpace::name(uintptr_t address, const ThreadStack &stack) {
  if (address == 0) return {trace::kNull, 0, 0};
  if (address >= stack.low && address < stack.high) return {trace::kStack, 0, distance(stack.origin, address)};
  if (state_ == nullptr) return {trace::kUnknown, 0, 0};
  Address result = {};
  if (address >= kFirstPages) {
    State &state = *state_;
    if (state.in_mpi_memory(address, result)) return result;
    if (state.in_static(address, state.modules.find_listed(address), result)) return result;
    if (state.in_heap(address, result)) return result;
    if (state.in_static(address, state.modules.find_object(address), result)) return result;
    if (state.in_device(address, result)) return result;
    if (state.in_mapping(address, result)) return result;
  }
  return state_->unknown_address(address);
}

Address AddressSpace::name_integer(uint64_t value, const ThreadStack &stack) {
  const Address integer = {trace::kInteger, 0, static_cast<int64_t>(value)};
  if (value < kFirstPages || value >> 56 != 0 || state_ == nullptr) return integer;
  const uintptr_t address = value;
  if (address >= stack.low && address < stack.high) return {trace::kStack, 0, distance(stack.origin, address)};
  State &state = *state_;
  Address result = {};
  if (state.in_mpi_memory(address, result)) return result;
  // Small numbers are displacements far more often than addresses in the heap of a program at fixed addresses.
  const bool plausible = value >> 32 != 0;
  if (plausible && state.in_heap(address, result)) return result;
  {
    const SpinGuard guard(state.lock);
    if (const Range *range = state.heap.containing(address); range != nullptr) {
      return {trace::kHeap, range->number, distance(range->low, address)};
    }
    const bool current = state.preload.mapping_epoch == nullptr || *state.preload.mapping_epoch == state.mappings_epoch;
    if (plausible && current && state.in_known_mapping(address, result)) return result;
  }
  const int module = state.modules.find_object(address);
  if (module < 0 || state.modules[module].load_base == 0) return integer;
  state.in_static(address, module, result);
  return result;
}

Address AddressSpace::known(uintptr_t address, const ThreadStack &stack) const {
  if (address == 0) return {trace::kNull, 0, 0};
  if (address >= stack.low && address < stack.high) return {trace::kStack, 0, distance(stack.origin, address)};
  if (state_ == nullptr) return {trace::kUnknown, 0, 0};
  if (const Range *range = state_->mpi.containing(address); range != nullptr) {
    return {trace::kMpiMemory, range->number, distance(range->low, address)};
  }
  Address result = {};
  if (state_->in_static(address, state_->modules.listed_at(address), result)) return result;
  if (const Range *range = state_->heap.containing(address); range != nullptr) {
    return {trace::kHeap, range->number, distance(range->low, address)};
  }
  return {trace::kUnknown, 0, 0};
}

void AddressSpace::tell_segments(ToldSegment told) {
  if (state_ == nullptr) return;
  const SpinGuard guard(state_->lock);
  state_->told = told;
}

void AddressSpace::add_mpi_memory(uintptr_t start, size_t size) {
  if (state_ == nullptr || start == 0) return;
  {
    const SpinGuard guard(state_->lock);
    state_->mpi.add(start, start + size);
    state_->mpi_count.store(state_->mpi.size(), std::memory_order_release);
  }
  __atomic_fetch_add(state_->preload.epoch, 1, __ATOMIC_RELEASE);
}

void AddressSpace::remove_mpi_memory(uintptr_t start) {
  if (state_ == nullptr) return;
  {
    const SpinGuard guard(state_->lock);
    state_->mpi.remove(start);
    state_->mpi_count.store(state_->mpi.size(), std::memory_order_release);
  }
  __atomic_fetch_add(state_->preload.epoch, 1, __ATOMIC_RELEASE);
}

}  // namespace cairn::recorder
