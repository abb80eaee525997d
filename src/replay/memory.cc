#include "replay/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "replay/mpi_side.h"

namespace cairn::replay {
namespace {

/// Of what is reserved, what lies in front of offset 0: stacks grow downwards, and types may reach below a buffer.
constexpr size_t kPartInFront = 16;
/// Of regions that share a range, since MPI refuses equal buffers.
constexpr size_t kApart = 4096 + 64;
/// Where even that is not to be had, a replay needs another machine.
constexpr size_t kLeast = size_t{1} << 24U;

/// On the heap, since the program's was; nullptr: no memory. What is large takes pages only as they are touched.
void *zeros(size_t bytes) {
  constexpr size_t kAligned = 64;  // as much as compilers ask for
  constexpr size_t kPage = 4096;
  constexpr size_t kLarge = 16 * kPage;
  void *block = nullptr;
  if (posix_memalign(&block, kAligned, std::max<size_t>(bytes, 1)) != 0) return nullptr;
  auto *const begin = static_cast<char *>(block);
  char *const first_page = begin + (kPage - reinterpret_cast<uintptr_t>(begin) % kPage) % kPage;
  const size_t front = std::min(bytes, static_cast<size_t>(first_page - begin));
  const size_t pages = (bytes - front) / kPage * kPage;
  // Pages that were given back are read as zeros.
  if (bytes < kLarge || madvise(first_page, pages, MADV_DONTNEED) != 0) {
    memset(begin, 0, bytes);
    return block;
  }
  memset(begin, 0, front);
  memset(first_page + pages, 0, bytes - front - pages);
  return block;
}

}  // namespace

Memory::~Memory() {
  for (const auto &[key, reserved] : regions_) {
    if (reserved.at != nullptr) munmap(reserved.at, reserved.bytes);
    free(reserved.block);
  }
}

void Memory::open_devices(std::map<int64_t, uint64_t> sizes, uint32_t number_on_node) {
  device_sizes_ = std::move(sizes);
  if (!device_sizes_.empty()) devices_.open(number_on_node);
}

char *Memory::on_device(uint64_t bytes) {
  if (wanted_ == DeviceMemory::automatic && devices_.usable() && !std::exchange(asked_mpi_, true)) {
    if (!takes_device_memory()) devices_.refuse_for_mpi();
  }
  if (shared_on_device_ != nullptr) return shared_on_device_ + of_devices_.on_device * kApart;
  if (shared_) {
    for (const auto &[number, most] : device_sizes_) bytes = std::max(bytes, most);
    bytes += device_sizes_.size() * kApart;
  }
  char *const block = devices_.allocate(bytes);
  if (block != nullptr) of_devices_.bytes += bytes;
  if (shared_) shared_on_device_ = block;
  return block;
}

bool Memory::place_on_device(int64_t number, Region *region) {
  if (const auto size = device_sizes_.find(number); size == device_sizes_.end()) {
    devices_.lacks_size();
  } else if (char *const block = on_device(size->second); block != nullptr) {
    region->origin = block;
    region->on_device = true;
    region->end = static_cast<int64_t>(size->second);
    ++of_devices_.on_device;
    return true;
  }
  ++of_devices_.in_host[static_cast<size_t>(devices_.why())];
  return false;
}

void Memory::write(const Region &region, int64_t offset, const char *from, size_t bytes) const {
  if (region.on_device) {
    devices_.copy(region.origin + offset, from, bytes);
  } else {
    memcpy(region.origin + offset, from, bytes);
  }
}

char *Memory::in_shared_range() {
  return shared_origin_ == nullptr ? nullptr : shared_origin_ + ++regions_in_it_ * kApart;
}

Region *Memory::region(trace::Atom address_class, int64_t number, uint32_t thread) {
  const Key key = {address_class, number, address_class == trace::kStack ? thread : 0};
  const auto [entry, added] = regions_.try_emplace(key);
  Reserved &reserved = entry->second;
  if (!added) return &reserved.region;
  if (address_class == trace::kMpiMemory) {
    reserved.region.moves = reserved.region.is_mpi = true;
    return &reserved.region;
  }
  if (address_class == trace::kHeap && follows_heap_) {
    reserved.region.moves = true;
    return &reserved.region;
  }
  if (address_class == trace::kDevice && !place_on_device(number, &reserved.region) &&
      wanted_ == DeviceMemory::device) {
    regions_.erase(entry);
    return nullptr;
  }
  if (reserved.region.on_device) return &reserved.region;
  const bool shares = shared_ && address_class != trace::kStack;
  if (char *const origin = shares ? in_shared_range() : nullptr; origin != nullptr) {
    reserved.region.origin = origin;
    return &reserved.region;
  }
  if (!reserve(&reserved)) {
    regions_.erase(entry);
    return nullptr;
  }
  if (shares) shared_origin_ = reserved.region.origin;
  return &reserved.region;
}

bool Memory::reserve(Reserved *reserved) {
  for (; most_ >= kLeast; most_ /= 2) {
    void *at = mmap(nullptr, most_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) continue;
    reserved->at = at;
    reserved->bytes = most_;
    reserved->region.origin = static_cast<char *>(at) + most_ / kPartInFront;
    return true;
  }
  return false;
}

void Memory::begin_segment(int64_t number, uint64_t bytes) {
  if (!follows_heap_) return;
  Reserved &segment = regions_[{trace::kHeap, number, 0}];
  segment.region.moves = true;
  if (segment.at != nullptr) return;
  free(segment.block);
  segment.block = zeros(bytes);
  // Without memory it is a range when it is used.
  segment.region.origin = static_cast<char *>(segment.block);
  segment.region.end = static_cast<int64_t>(bytes);
  segment.region.filled_begin = segment.region.filled_end = 0;
}

void Memory::end_segment(int64_t number) {
  const auto found = regions_.find({trace::kHeap, number, 0});
  if (found == regions_.end() || found->second.at != nullptr) return;
  Reserved &segment = found->second;
  free(segment.block);
  segment.block = nullptr;
  segment.region.origin = nullptr;
}

uint64_t Memory::segment_bytes(int64_t number) const {
  const auto found = regions_.find({trace::kHeap, number, 0});
  return found == regions_.end() || found->second.block == nullptr ? 0
                                                                   : static_cast<uint64_t>(found->second.region.end);
}

bool Memory::provide_range(Region *region) {
  const auto found = std::find_if(regions_.begin(), regions_.end(),
                                  [region](const auto &known) { return &known.second.region == region; });
  if (found == regions_.end() || !reserve(&found->second)) return false;
  region->end = INT64_MAX;
  return true;
}

}  // namespace cairn::replay
