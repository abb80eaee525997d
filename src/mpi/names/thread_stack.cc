// ThreadStack::of_calling_thread.
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "mpi/names/addresses.h"
#include "mpi/names/memory_map.h"

namespace cairn::recorder {
namespace {

/// The mapping that the kernel lets grow, down to where it may. (pthread_getattr_np would read this through stdio, and
/// with it the program's allocator.)
bool main_stack(uintptr_t &low, uintptr_t &high) {
  bool found = false;
  uintptr_t previous_end = 0;
  for_each_mapping([&](const MapEntry &entry) {
    found = std::strcmp(entry.path, "[stack]") == 0;
    if (!found) {
      previous_end = entry.high;
      return true;
    }
    low = entry.low;
    high = entry.high;
    return false;
  });
  if (!found) return false;
  rlimit limit = {};
  uintptr_t lowest = previous_end;
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < high - previous_end) lowest = high - limit.rlim_cur;
  // Where a stack may grow without limit, the kernel puts mappings from below upwards, and the heap above them: what
  // lies there now may come nearer, but never as far as half of the 40 TiB and more that are left.
  constexpr uintptr_t kFar = uintptr_t{1} << 40;
  if (high - lowest > kFar) lowest = high - (high - previous_end) / 2;
  if (lowest < low) low = lowest;
  return true;
}

bool thread_stack(uintptr_t &low, uintptr_t &high) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
  void *start = nullptr;
  size_t size = 0;
  const bool known = pthread_attr_getstack(&attributes, &start, &size) == 0;
  pthread_attr_destroy(&attributes);
  low = reinterpret_cast<uintptr_t>(start);
  high = low + size;
  return known;
}

}  // namespace

ThreadStack ThreadStack::of_calling_thread(uintptr_t frame_address) {
  ThreadStack stack;
  const bool is_main = syscall(SYS_gettid) == getpid();
  if (is_main ? !main_stack(stack.low, stack.high) : !thread_stack(stack.low, stack.high)) {
    // Nobody says: at least what lies around the frame.
    stack.low = frame_address - (64 << 10);
    stack.high = frame_address + (64 << 10);
  }
  const bool inside = frame_address >= stack.low && frame_address < stack.high;
  stack.origin = inside ? frame_address : stack.high;
  return stack;
}

}  // namespace cairn::recorder
