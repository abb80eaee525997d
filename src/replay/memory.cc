#include "replay/memory.h"

#include <sys/mman.h>

namespace cairn::replay {
namespace {

/// Of what is reserved, what lies in front of offset 0: stacks grow downwards, and types may reach below a buffer.
constexpr size_t kPartInFront = 16;
/// Where even that is not to be had, a replay needs another machine.
constexpr size_t kLeast = size_t{1} << 24U;

}  // namespace

Memory::~Memory() {
  for (const auto &[key, reserved] : regions_) {
    if (reserved.at != nullptr) munmap(reserved.at, reserved.bytes);
  }
}

void Memory::mark_device(trace::Atom address_class, Region *region) {
  if (address_class != trace::kDevice) return;
  region->is_device = true;
  ++device_regions_;
}

char *Memory::in_shared_range() {
  constexpr size_t kApart = 4096 + 64;
  return shared_origin_ == nullptr ? nullptr : shared_origin_ + ++regions_in_it_ * kApart;
}

Region *Memory::region(trace::Atom address_class, int64_t number, uint32_t thread) {
  const Key key = {address_class, number, address_class == trace::kStack ? thread : 0};
  const auto [entry, added] = regions_.try_emplace(key);
  Reserved &reserved = entry->second;
  if (!added) return &reserved.region;
  if (address_class == trace::kMpiMemory) {
    reserved.region.moves = true;
    return &reserved.region;
  }
  const bool shares = shared_ && address_class != trace::kStack;
  if (char *const origin = shares ? in_shared_range() : nullptr; origin != nullptr) {
    reserved.region.origin = origin;
    mark_device(address_class, &reserved.region);
    return &reserved.region;
  }
  for (; most_ >= kLeast; most_ /= 2) {
    void *at = mmap(nullptr, most_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) continue;
    reserved.at = at;
    reserved.bytes = most_;
    reserved.region.origin = static_cast<char *>(at) + most_ / kPartInFront;
    if (shares) shared_origin_ = reserved.region.origin;
    mark_device(address_class, &reserved.region);
    return &reserved.region;
  }
  regions_.erase(entry);
  return nullptr;
}

}  // namespace cairn::replay
