// munmap, mremap and dlclose, forwarded; they make the epochs of preload.h grow when what a recorder has named goes
// away. dlopen isn't interposed: where it searches depends on who calls it.
//
// Threads: the watched ranges only ever grow in number or extent, readers take no lock.
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mpi/preload/state.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace cairn::preload {
namespace {

struct Range {
  uintptr_t low;
  uintptr_t high;
};

constexpr uint32_t kRanges = 64;
Range ranges[kRanges];
uint32_t range_count;
bool adding;

bool is_watched(uintptr_t low, uintptr_t high) {
  const uint32_t count = __atomic_load_n(&range_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; ++i) {
    if (low < __atomic_load_n(&ranges[i].high, __ATOMIC_RELAXED) &&
        high > __atomic_load_n(&ranges[i].low, __ATOMIC_RELAXED)) {
      return true;
    }
  }
  return false;
}

void taken_away(void *address, size_t size) {
  const auto low = reinterpret_cast<uintptr_t>(address);
  if (!is_watched(low, low + size)) return;
  grow(shared.mapping_epoch);
  grow(shared.epoch);
}

int (*next_munmap)(void *, size_t);
void *(*next_mremap)(void *, size_t, size_t, int, ...);
int (*next_dlclose)(void *);

unsigned long long unloaded() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *result) {
        *static_cast<unsigned long long *>(result) = info->dlpi_subs;
        return 1;
      },
      &count);
  return count;
}

}  // namespace

void watch(uintptr_t low, uintptr_t high) {
  while (__atomic_exchange_n(&adding, true, __ATOMIC_ACQUIRE)) {
  }
  uint32_t i = 0;
  while (i < range_count && (low > ranges[i].high || high < ranges[i].low)) ++i;
  if (i == kRanges) i = kRanges - 1;  // no room: the last one takes in all the rest
  if (i == range_count) {
    ranges[i] = {low, high};
    __atomic_store_n(&range_count, i + 1, __ATOMIC_RELEASE);
  } else {
    if (low < ranges[i].low) __atomic_store_n(&ranges[i].low, low, __ATOMIC_RELAXED);
    if (high > ranges[i].high) __atomic_store_n(&ranges[i].high, high, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&adding, false, __ATOMIC_RELEASE);
}

}  // namespace cairn::preload

using namespace cairn::preload;

EXPORTED int munmap(void *address, size_t size) {
  int (*function)(void *, size_t) = next_of(next_munmap, "munmap");
  taken_away(address, size);
  if (function == nullptr) return static_cast<int>(syscall(SYS_munmap, address, size));
  return function(address, size);
}

EXPORTED void *mremap(void *address, size_t old_size, size_t new_size, int flags, ...) {
  void *target = nullptr;
  if ((flags & MREMAP_FIXED) != 0) {
    va_list rest;
    va_start(rest, flags);
    target = va_arg(rest, void *);
    va_end(rest);
    taken_away(target, new_size);
  }
  void *(*function)(void *, size_t, size_t, int, ...) = next_of(next_mremap, "mremap");
  taken_away(address, old_size);
  if (function == nullptr) {
    return reinterpret_cast<void *>(syscall(SYS_mremap, address, old_size, new_size, flags, target));
  }
  return function(address, old_size, new_size, flags, target);
}

EXPORTED int dlclose(void *handle) {
  int (*function)(void *) = next_of(next_dlclose, "dlclose");
  if (function == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  const unsigned long long before = unloaded();
  const int result = function(handle);
  if (unloaded() != before) {
    grow(shared.module_epoch);
    grow(shared.epoch);
  }
  return result;
}
