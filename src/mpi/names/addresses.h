// AddressSpace: names memory addresses so that address-space randomisation leaves no trace and overlap stays visible.
//
// Owned by the recorder, one a process, memory from its arena. `name` may be called by any thread (a lock on the slow
// path only; callers memoise by (address, epoch)). Everything numbered gets the lowest free number: heap segments when
// MPI first sees them, until they are freed; MPI's memory until it is given back; device allocations and other mappings
// when first seen, until they are gone. Statics are (module, offset); stack addresses are relative to the calling
// thread's stack as it was at its first MPI call; another thread's stack is a mapping.
//
// Cost: tens of nanoseconds for this stack, MPI memory, heap and modules already listed; microseconds for an object's
// first static; some 100 microseconds (/proc/self/maps) for a mapping's first address. Where memory runs out or nothing
// is known of an address, it is (kUnknown, n, 0), n in order of first sight.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/arena.h"
#include "mpi/preload/preload.h"
#include "trace/values/atom.h"

namespace cairn::recorder {

class Modules;

struct Address {
  trace::Atom kind;  ///< kHeap, kStatic, kStack, kMapping, kMpiMemory, kDevice, kNull or kUnknown
  int64_t number;
  int64_t offset;
  bool operator==(const Address &) const = default;
};

/// Where a thread's stack lies; filled at its first MPI call.
struct ThreadStack {
  uintptr_t low = 0;
  uintptr_t high = 0;
  uintptr_t origin = 0;  ///< frame address of the first wrapper entered; `high` if that isn't on this stack
  /// The stack that the thread was given; the main thread's reaches down to where it may grow, or half of the way to
  /// the next mapping if that is without limit. One that the program switched to (a fiber's) is heap, static or
  /// mapping, whichever holds it.
  static ThreadStack of_calling_thread(uintptr_t frame_address);
};

class AddressSpace {
 public:
  /// Sets *preload.forget: from then on freed segments are forgotten here. One at a time in a process. `preload` must
  /// outlive it.
  AddressSpace(Arena &arena, Modules &modules, const CairnPreload &preload);

  Address name(uintptr_t address, const ThreadStack &stack);
  /// As `name`, but only if `value` lies in the heap, in a mapping that MPI has seen, in MPI memory, a static, or this
  /// stack; else (kInteger, 0, value). For integers that may hold addresses. Statics of a program that is linked to
  /// fixed addresses stay integers: they are the same in every run, and small enough to be displacements.
  Address name_integer(uint64_t value, const ThreadStack &stack);

  /// What can be told from outside of an address of a dead or living process: this stack, MPI memory, statics of
  /// modules that are listed, heap segments that MPI has seen. kUnknown else, and of what is damaged. Takes no lock,
  /// changes nothing, asks nobody.
  [[nodiscard]] Address known(uintptr_t address, const ThreadStack &stack) const;

  /// From now on `told` hears of each heap segment that gets a number (`bytes` as the allocator gave it, at least 1)
  /// and of each that ends (`bytes` is 0), in that order, by the thread that names or frees it; and of each allocation
  /// on a device that gets a number (`kind` is kDevice), whose end nobody sees. It is called with the lock held: it
  /// must not come back here, nor allocate but from the arena. nullptr: nobody hears of them; when this returns nobody
  /// is being told any more.
  using ToldSegment = void (*)(trace::Atom kind, int64_t number, uint64_t bytes);
  void tell_segments(ToldSegment told);

  /// Both make *preload.epoch grow: names given before may have changed.
  void add_mpi_memory(uintptr_t start, size_t size);
  void remove_mpi_memory(uintptr_t start);

 private:
  struct State;
  State *state_;  ///< nullptr without memory: everything is unknown then
};

}  // namespace cairn::recorder
