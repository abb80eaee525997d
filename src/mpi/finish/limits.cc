#include "mpi/finish/limits.h"

#include <sys/mman.h>

namespace cairn::recorder {

RaisedLimits::RaisedLimits() {
  for (int i = 0; i < kCount; ++i) {
    if (getrlimit(kRaised[i], &before_[i]) != 0 || before_[i].rlim_cur == before_[i].rlim_max) continue;
    const rlimit most{before_[i].rlim_max, before_[i].rlim_max};
    raised_[i] = setrlimit(kRaised[i], &most) == 0;
  }
}

RaisedLimits::~RaisedLimits() {
  for (int i = 0; i < kCount; ++i) {
    if (raised_[i]) setrlimit(kRaised[i], &before_[i]);
  }
}

bool RaisedLimits::suffice() {
  constexpr size_t kMemory = size_t{32} << 20;
  constexpr rlim_t kStack = rlim_t{256} << 10;
  rlimit stack{};
  if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < kStack) return false;
  void *tried = mmap(nullptr, kMemory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (tried == MAP_FAILED) return false;
  munmap(tried, kMemory);
  return true;
}

}  // namespace cairn::recorder
