// Memory: what the program's memory is in a replay. Each region that a trace tells apart (a segment of the heap, the
// stack of a thread, the data of a module, …) is a range of addresses of its own, in which buffers lie at the offsets
// that they had, so that they overlap as they did. The ranges are reserved, not filled: only pages that MPI touches
// take memory, which the program's took too.
//
// Where the trace says when segments of the heap began and ended, and no other thread is about, they are allocated and
// freed then (`follow_heap`), with the sizes that they had. One that is used before it began, or after it ended, is a
// range as the other regions are.
//
// Where buffers are shared, all regions but stacks are one range: what is bounded is then the largest of them, and
// buffers overlap that did not. Regions begin at different places in it, since MPI refuses equal buffers.
//
// Memory that MPI gives (MPI_Alloc_mem, MPI_Win_allocate, …) is where MPI gives it now: bound anew each time.
//
// Memory of devices is on a device, where there is one that MPI takes addresses of and the trace says how large the
// allocation was (devices.h): the most that one of its number had, from when it is used first, since a trace does not
// say when it was freed. Else it is the host's, as the other regions are.
//
// One thread at a time (the walkers' lock).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "replay/devices.h"
#include "trace/values/atom.h"

namespace cairn::replay {

struct Region {
  char *origin = nullptr;   ///< offset 0; nullptr: not there now
  bool on_device = false;   ///< not to be touched but through Memory::write
  bool is_mpi = false;      ///< MPI gives it
  bool moves = false;       ///< `origin` changes: MPI gives it, or it is allocated
  int64_t end = INT64_MAX;  ///< offset behind what may be filled
  // What has been filled (fill.h), by offset.
  int64_t filled_begin = 0;
  int64_t filled_end = 0;
};

class Memory {
 public:
  Memory(bool shared, DeviceMemory devices) : shared_(shared), wanted_(devices), devices_(devices) {}
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory();

  /// The region of an address's first two atoms, as a thread names it; made where it is met first. nullptr: the system
  /// gives no more addresses, or memory on a device was asked for and is not to be had. Stays where it is.
  Region *region(trace::Atom address_class, int64_t number, uint32_t thread);
  /// How large allocations on devices are, by number. Before MPI begins, and before the first region.
  void open_devices(std::map<int64_t, uint64_t> sizes, uint32_t number_on_node);
  /// A thread is about to make calls.
  void enter_devices() const { devices_.enter(); }
  /// From now on segments of the heap begin and end. Before the first region.
  void follow_heap() { follows_heap_ = true; }
  /// A segment of the heap is there from now on, filled with zeros that take no pages; where there is one of that
  /// number, its contents are lost.
  void begin_segment(int64_t number, uint64_t bytes);
  void end_segment(int64_t number);
  /// A region that moves is about to be used. False if it is not there and the system gives no addresses.
  bool provide(Region *region) { return region->origin != nullptr || region->is_mpi || provide_range(region); }
  /// 0: it is not there.
  [[nodiscard]] uint64_t segment_bytes(int64_t number) const;
  /// Into a region that is there.
  void write(const Region &region, int64_t offset, const char *from, size_t bytes) const;
  /// What became of memory of devices.
  struct OfDevices {
    uint64_t on_device = 0;                              ///< regions
    uint64_t bytes = 0;                                  ///< of these
    std::array<uint64_t, Devices::kLacks> in_host = {};  ///< regions, by why
  };
  [[nodiscard]] const OfDevices &of_devices() const { return of_devices_; }
  /// Why a region was not to be had that had to be on a device.
  [[nodiscard]] std::string lack_of_devices() const { return devices_.text_of_lack(); }

 private:
  /// A region in the range that all share; nullptr: there is none yet.
  char *in_shared_range();
  char *on_device(uint64_t bytes);
  /// False: it is the host's, and counted so.
  bool place_on_device(int64_t number, Region *region);
  using Key = std::tuple<trace::Atom, int64_t, uint32_t>;
  struct Reserved {
    void *at = nullptr;  ///< the range
    size_t bytes = 0;
    void *block = nullptr;  ///< of a segment
    Region region;
  };
  bool reserve(Reserved *reserved);
  bool provide_range(Region *region);
  std::map<Key, Reserved> regions_;
  const bool shared_;
  bool follows_heap_ = false;
  char *shared_origin_ = nullptr;
  size_t regions_in_it_ = 0;
  size_t most_ = size_t{1} << 36U;
  const DeviceMemory wanted_;
  Devices devices_;
  std::map<int64_t, uint64_t> device_sizes_;
  char *shared_on_device_ = nullptr;
  bool asked_mpi_ = false;
  OfDevices of_devices_;
};

}  // namespace cairn::replay
