// malloc and its family, in front of whatever allocator the process uses: forwards every call to the next definition
// and keeps the HeapShadow.
//
// The next definitions are looked up on the first call, which the dynamic linker makes before any constructor has run.
// dlsym may itself allocate: what is asked for meanwhile comes from a small buffer that is never given back.
// Tracking begins as soon as the environment can be read, if CAIRN_OUTPUT is set, CAIRN_OFF isn't, and neither
// RLIMIT_AS, RLIMIT_DATA nor strict overcommit make address space dear.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mpi/preload/heap_shadow.h"
#include "mpi/preload/state.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace cairn::preload {

namespace {

struct Allocator {
  void *(*malloc)(size_t);  ///< written last: not null means that all are there
  void *(*calloc)(size_t, size_t);
  void *(*realloc)(void *, size_t);
  void *(*reallocarray)(void *, size_t, size_t);
  void (*free)(void *);
  int (*posix_memalign)(void **, size_t, size_t);
  void *(*aligned_alloc)(size_t, size_t);
  void *(*memalign)(size_t, size_t);
  void *(*valloc)(size_t);
  void *(*pvalloc)(size_t);
  size_t (*usable_size)(void *);
};

Allocator next;
HeapShadow shadow;
bool finding;
bool configured;

alignas(16) char early[32 << 10];
size_t early_used;

bool is_early(const void *block) {
  return reinterpret_cast<uintptr_t>(block) - reinterpret_cast<uintptr_t>(early) < sizeof early;
}

/// From the buffer, its size in front of it. Zeroed, since nothing there is used twice.
void *early_allocate(size_t size, size_t alignment = 16) {
  if (size > sizeof early || alignment > 4096) return nullptr;
  if (alignment < 16) alignment = 16;
  const size_t taken = size + alignment + 32;
  const size_t at = __atomic_fetch_add(&early_used, taken & ~size_t{15}, __ATOMIC_RELAXED);
  if (at + taken > sizeof early) {
    errno = ENOMEM;
    return nullptr;
  }
  const uintptr_t block = (reinterpret_cast<uintptr_t>(early) + at + 16 + alignment - 1) & ~(alignment - 1);
  memcpy(reinterpret_cast<void *>(block - sizeof size), &size, sizeof size);
  return reinterpret_cast<void *>(block);
}

template <typename Function>
void find_next_of(Function *&function, const char *name) {
  function = reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

__attribute__((noinline, cold)) bool find_next() {
  if (__atomic_exchange_n(&finding, true, __ATOMIC_ACQ_REL)) return false;  // called by dlsym, or by another thread
  find_next_of(next.calloc, "calloc");
  find_next_of(next.realloc, "realloc");
  find_next_of(next.reallocarray, "reallocarray");
  find_next_of(next.free, "free");
  find_next_of(next.posix_memalign, "posix_memalign");
  find_next_of(next.aligned_alloc, "aligned_alloc");
  find_next_of(next.memalign, "memalign");
  find_next_of(next.valloc, "valloc");
  find_next_of(next.pvalloc, "pvalloc");
  find_next_of(next.usable_size, "malloc_usable_size");
  void *first = dlsym(RTLD_NEXT, "malloc");
  __atomic_store_n(&next.malloc, reinterpret_cast<void *(*)(size_t)>(first), __ATOMIC_RELEASE);
  return next.malloc != nullptr;
}

bool have_next() { return __atomic_load_n(&next.malloc, __ATOMIC_ACQUIRE) != nullptr || find_next(); }

bool limited(__rlimit_resource resource) {
  rlimit limit = {};
  return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < (rlim_t{8} << 30);
}

bool overcommit_is_strict() {
  const int file = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char digit = 0;
  const bool strict = read(file, &digit, 1) == 1 && digit == '2';
  close(file);
  return strict;
}

/// The object that holds `function`.
void *home(const void *function) {
  Dl_info info = {};
  return dladdr(function, &info) != 0 ? info.dli_fbase : nullptr;
}

__attribute__((noinline, cold)) void configure() {
  if (environ == nullptr || !have_next()) return;  // too early: ask again at the next allocation
  if (__atomic_exchange_n(&configured, true, __ATOMIC_ACQ_REL)) return;
  if (setting("CAIRN_OUTPUT") == nullptr || setting("CAIRN_OFF") != nullptr) return;
  const int saved_errno = errno;
  void *allocator = home(reinterpret_cast<void *>(next.malloc));
  // An allocator that doesn't say how large its blocks are can't be tracked.
  const bool sizes_known = next.usable_size != nullptr && allocator == home(reinterpret_cast<void *>(next.usable_size));
  if (sizes_known && !limited(RLIMIT_AS) && !limited(RLIMIT_DATA) && !overcommit_is_strict()) {
#ifdef __GLIBC__
    const bool is_glibc = allocator == home(reinterpret_cast<void *>(getrlimit));
#else
    const bool is_glibc = false;
#endif
    shadow.switch_on(next.usable_size, is_glibc);  // its allocations are at least 32 bytes apart
  }
  errno = saved_errno;
}

/// Nanoseconds count here and in `dropped`, and the compiler finds too many callers to inline them by itself.
__attribute__((always_inline)) inline void *noted(void *block, size_t size) {
  if (!__atomic_load_n(&configured, __ATOMIC_RELAXED)) [[unlikely]]
    configure();
  if (block != nullptr) [[likely]]
    shadow.note(reinterpret_cast<uintptr_t>(block), size);
  return block;
}

/// A tracked allocation is about to end.
__attribute__((noinline)) void give_up(void *block) {
  const int saved_errno = errno;
  void (*forget)(uintptr_t) = __atomic_load_n(&shared.forget, __ATOMIC_ACQUIRE);
  // A forked child has no recorder, and its copy of the recorder's locks may be held by a thread that it lacks.
  if (forget != nullptr && getpid() == shared.recording_process) forget(reinterpret_cast<uintptr_t>(block));
  grow(shared.epoch);
  errno = saved_errno;
}

__attribute__((always_inline)) inline void dropped(void *block) {
  if (shadow.drop(reinterpret_cast<uintptr_t>(block))) [[unlikely]]
    give_up(block);
}

/// Moves a block out of the early buffer.
void *leave_early(void *block, size_t size) {
  size_t old_size = 0;
  memcpy(&old_size, static_cast<char *>(block) - sizeof old_size, sizeof old_size);
  void *fresh = malloc(size);
  if (fresh != nullptr) memcpy(fresh, block, old_size < size ? old_size : size);
  return fresh;
}

/// After a realloc: the block is a new one even if it stayed where it was, so that names don't depend on what the
/// allocator found behind it.
void *resized(void *old_block, size_t old_usable, void *fresh, size_t size) {
  if (fresh != nullptr) return noted(fresh, size);
  if (old_block != nullptr && size != 0) shadow.note(reinterpret_cast<uintptr_t>(old_block), old_usable);  // it failed
  return nullptr;
}

size_t usable(void *block) { return block != nullptr && shadow.is_on() ? next.usable_size(block) : 0; }

__attribute__((constructor)) void begin() {
  if (have_next()) configure();
}

}  // namespace

bool find_allocation(uintptr_t address, CairnAllocation *found) { return shadow.find(address, found); }

}  // namespace cairn::preload

using namespace cairn::preload;

EXPORTED void *malloc(size_t size) {
  if (!have_next()) [[unlikely]]
    return early_allocate(size);
  return noted(next.malloc(size), size);
}

EXPORTED void free(void *block) {
  if (block == nullptr || is_early(block) || !have_next()) return;
  dropped(block);
  next.free(block);
}

EXPORTED void *calloc(size_t count, size_t size) {
  if (!have_next()) [[unlikely]] {
    size_t bytes = 0;
    return __builtin_mul_overflow(count, size, &bytes) ? nullptr : early_allocate(bytes);
  }
  return noted(next.calloc(count, size), count * size);
}

EXPORTED void *realloc(void *block, size_t size) {
  if (is_early(block)) [[unlikely]]
    return leave_early(block, size);
  if (!have_next()) [[unlikely]]
    return early_allocate(size);
  const size_t old_usable = usable(block);
  if (block != nullptr) dropped(block);
  return resized(block, old_usable, next.realloc(block, size), size);
}

EXPORTED void *reallocarray(void *block, size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  if (is_early(block) || !have_next() || next.reallocarray == nullptr) return realloc(block, bytes);
  const size_t old_usable = usable(block);
  if (block != nullptr) dropped(block);
  return resized(block, old_usable, next.reallocarray(block, count, size), bytes);
}

EXPORTED int posix_memalign(void **block, size_t alignment, size_t size) {
  if (!have_next()) [[unlikely]] {
    void *fresh = early_allocate(size, alignment);
    if (fresh == nullptr) return ENOMEM;
    *block = fresh;
    return 0;
  }
  const int error = next.posix_memalign(block, alignment, size);
  if (error == 0) noted(*block, size);
  return error;
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size) {
  if (!have_next()) [[unlikely]]
    return early_allocate(size, alignment);
  return noted(next.aligned_alloc(alignment, size), size);
}

EXPORTED void *memalign(size_t alignment, size_t size) {
  if (!have_next()) [[unlikely]]
    return early_allocate(size, alignment);
  return noted(next.memalign(alignment, size), size);
}

EXPORTED void *valloc(size_t size) {
  if (!have_next()) [[unlikely]]
    return early_allocate(size, 4096);
  return noted(next.valloc(size), size);
}

EXPORTED void *pvalloc(size_t size) {
  if (!have_next()) [[unlikely]]
    return early_allocate(size, 4096);
  return noted(next.pvalloc(size), size);
}
