// What the parts of libcairn.so share: the counters of preload.h, and access to the heap's shadow.
// One instance a process, zero-initialised, any thread.
#pragma once

#include <stdint.h>

#include "mpi/preload/preload.h"

namespace cairn::preload {

struct Shared {
  uint32_t epoch = 0;
  uint32_t module_epoch = 0;
  uint32_t mapping_epoch = 0;
  void (*forget)(uintptr_t start) = nullptr;
  CairnThreads *threads = nullptr;
  int recording_process = 0;  ///< pid that attached a recorder; a forked child is another
};

inline constinit Shared shared;

inline void grow(uint32_t &counter) { __atomic_fetch_add(&counter, 1, __ATOMIC_RELEASE); }

bool find_allocation(uintptr_t address, CairnAllocation *found);
void watch(uintptr_t low, uintptr_t high);
uint32_t thread_number();

}  // namespace cairn::preload
