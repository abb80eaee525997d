// What the parts of libcairn.so share: the counters of preload.h, and access to the heap's shadow.
// One instance a process, zero-initialised, any thread.
#pragma once

#include <dlfcn.h>
#include <stdint.h>

#include "mpi/preload/preload.h"

namespace cairn::preload {

struct Shared {
  uint32_t epoch = 0;
  uint32_t module_epoch = 0;
  uint32_t mapping_epoch = 0;
  void (*forget)(uintptr_t start) = nullptr;
  CairnThreads *threads = nullptr;
  void (*leaves)(bool ends) = nullptr;
  void (*changes_user)(bool changes) = nullptr;
  int recording_process = 0;  ///< pid that attached a recorder; a forked child is another
  uint32_t too_early = 0;     ///< calls before the process had begun
};

inline constinit Shared shared;

inline void grow(uint32_t &counter) { __atomic_fetch_add(&counter, 1, __ATOMIC_RELEASE); }

bool find_allocation(uintptr_t address, CairnAllocation *found);
void watch(uintptr_t low, uintptr_t high);
uint32_t thread_number();
/// What the process was given of that name when it began, or the program has set it to since; nullptr: neither.
const char *setting(const char *name);
/// Whether there is an environment yet: what runs from .preinit_array has none, and neither have C libraries begun.
bool has_begun();
/// What constructors of this library do, for whoever comes before them.
void prepare_threads();

void keep_dl_error();
void restore_dl_error();

/// While one lives, requests to the dynamic linker leave no trace in what dlerror gives the program.
class KeptDlError {
 public:
  KeptDlError() { keep_dl_error(); }
  ~KeptDlError() { restore_dl_error(); }
  KeptDlError(const KeptDlError &) = delete;
  KeptDlError &operator=(const KeptDlError &) = delete;
};

/// The definition behind this library's of the function of that name, which is looked up once; nullptr: there is none.
template <typename Function>
Function *next_of(Function *&function, const char *name) {
  Function *found = __atomic_load_n(&function, __ATOMIC_ACQUIRE);
  if (found == nullptr) {
    const KeptDlError kept;
    found = reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
    __atomic_store_n(&function, found, __ATOMIC_RELEASE);
  }
  return found;
}

}  // namespace cairn::preload
