// The first MPI call: which MPI library is it, is there a recorder for it, and where does every trampoline lead.
//
// Runs once a process, on the thread whose call came first; others wait (a call made meanwhile by that very thread, or
// by one that has waited ten seconds, or before the process has begun, goes to the real function). All slots are then
// filled at once. Uses the dynamic linker and plain system calls; errno and what dlerror tells are kept. Nothing here
// can fail loudly: whatever goes wrong, the program's calls reach its MPI library and `unrecorded.<pid>` in CAIRN_SPOOL
// says why they weren't recorded.
//
// Entries of Fortran bindings, and PMPI_ functions, are found one by one, each when it is first called, by any number
// of threads at once.
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mpi_abi.h"
#include "base/mpi_place.h"
#include "base/uncancelled.h"
#include "mpi/preload/binding_frames.h"
#include "mpi/preload/state.h"
#include "mpi/preload/text.h"

extern "C" {
extern void *cairn_slots[];
extern const char cairn_trampolines[];
extern const char cairn_trampolines_end[];
extern void *cairn_fortran_slots[];
extern void *cairn_profiling_slots[];
extern void *cairn_answer_slots[];
extern const char cairn_fortran_names[];  // as kNames
void *cairn_resolve(unsigned index, const void *return_address);
__attribute__((visibility("hidden"))) char cairn_recording;  ///< whether MPI_ slots lead to a recorder
__attribute__((visibility("hidden"))) thread_local constinit CairnFortranEntry cairn_fortran_entry = {};
}

namespace cairn::preload {
namespace {

/// All names, each ended by a NUL: no relocations.
constexpr char kNames[] =
#define CAIRN_MPI_FUNCTION(name) #name "\0"
#include CAIRN_MPI_FUNCTIONS_INC
#undef CAIRN_MPI_FUNCTION
    ;

constexpr char kProfilingNames[] =
#define CAIRN_PROFILING_ENTRY(name, function, status) "P" #name "\0"
#include CAIRN_MPI_FUNCTIONS_INC
#undef CAIRN_PROFILING_ENTRY
    ;

constexpr bool kGivesStatus[] = {
#define CAIRN_PROFILING_ENTRY(name, function, status) status >= 0,
#include CAIRN_MPI_FUNCTIONS_INC
#undef CAIRN_PROFILING_ENTRY
};

constexpr uint32_t kProfilingFunctions[] = {
#define CAIRN_PROFILING_ENTRY(name, function, status) function,
#include CAIRN_MPI_FUNCTIONS_INC
#undef CAIRN_PROFILING_ENTRY
};

constexpr unsigned kFortranBase = 0x10000;    // cairn_fortran_base
constexpr unsigned kProfilingBase = 0x20000;  // cairn_profiling_base

using Path = Text<4096>;

enum Progress : int { kNew, kBusy, kDone };
int progress = kNew;
long resolving_thread;

void *caller_handle;  ///< of the object that made the first call; open only while it is resolved
void *mpi_handle;
const void *mpi_init;  ///< PMPI_Init
/// The global scope behind us holds no other MPI library than the program's.
bool next_is_mpi;
CairnWrapFortran wrap_fortran;
CairnMpiPlaceOf place_of;  ///< of the recorder
char mpi_soname[256];
CairnPreload table;

/// What a function leads to that the MPI library doesn't have. A program can reach it only by looking the name up at
/// run time, and it tells the program what a missing function would: it failed. 16 is an error class of every MPI.
int missing_function() { return 16; }

bool is_ours(const void *function) {
  const auto *address = static_cast<const char *>(function);
  return address >= cairn_trampolines && address < cairn_trampolines_end;
}

void *find_in(void *handle, const char *name) {
  void *found = handle == nullptr ? nullptr : dlsym(handle, name);
  return is_ours(found) ? nullptr : found;
}

/// Where a call of `name` would go without us: the next definition in the global scope (another tool's, maybe), if
/// that scope holds the program's MPI library at all, else what the calling object or the library itself has.
void *real_function(const char *name) {
  void *found = mpi_init == nullptr || next_is_mpi ? dlsym(RTLD_NEXT, name) : nullptr;
  if (found == nullptr) found = find_in(mpi_handle, name);
  if (found == nullptr) found = find_in(caller_handle, name);
  if (found == nullptr && mpi_handle != nullptr) {
    Text<256> profiling;
    profiling.add("P").add(name);
    found = dlsym(mpi_handle, profiling.text());
  }
  return found != nullptr ? found : reinterpret_cast<void *>(missing_function);
}

/// The recorder calls a function by its profiling name.
bool library_has(const char *name) {
  Text<256> profiling;
  profiling.add("P").add(name);
  return strncmp(name, "MPI_", 4) != 0 || dlsym(mpi_handle, profiling.text()) != nullptr;
}

const char *name_of(const char *names, unsigned index) {
  while (index-- != 0) names += strlen(names) + 1;
  return names;
}

link_map *object_of(const void *address) {
  Dl_info info = {};
  link_map *map = nullptr;
  return dladdr1(address, &info, reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP) != 0 ? map : nullptr;
}

/// A handle of a loaded object; the main program has the empty name.
void *open_loaded(const link_map *map) {
  return dlopen(map->l_name[0] == '\0' ? nullptr : map->l_name, RTLD_NOLOAD | RTLD_LAZY);
}

/// The program's MPI may be visible to no scope of ours: ask every loaded object.
const void *find_anywhere(const char *name) {
  struct Names {
    char *text;
    size_t size;
    size_t used;
  };
  constexpr size_t size = 4 << 20;
  void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  Names names = {static_cast<char *>(memory), size, 0};
  // Collected first: dlopen inside the callback could wait for a lock of a thread that waits for this one.
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        auto *list = static_cast<Names *>(data);
        const size_t length = strlen(info->dlpi_name) + 1;
        if (length == 1 || list->used + length >= list->size) return 0;
        memcpy(list->text + list->used, info->dlpi_name, length);
        list->used += length;
        return 0;
      },
      &names);
  const void *found = nullptr;
  for (size_t at = 0; at < names.used && found == nullptr; at += strlen(names.text + at) + 1) {
    void *handle = dlopen(names.text + at, RTLD_NOLOAD | RTLD_LAZY);
    if (handle == nullptr) continue;
    found = find_in(handle, name);
    dlclose(handle);
  }
  munmap(memory, size);
  return found;
}

void take_soname(const link_map *map) {
  const char *strings = nullptr;
  ElfW(Xword) offset = 0;
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char *>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SONAME) offset = entry->d_un.d_val;
  }
  const char *name = map->l_name;
  if (strings != nullptr && offset != 0) {
    // glibc has relocated the address in place, other loaders leave it relative.
    if (reinterpret_cast<uintptr_t>(strings) < map->l_addr) strings += map->l_addr;
    name = strings + offset;
  }
  if (const char *slash = strrchr(name, '/'); slash != nullptr) name = slash + 1;
  strncpy(mpi_soname, name[0] == '\0' ? "the program itself" : name, sizeof mpi_soname - 1);
}

bool find_mpi(const void *return_address) {
  const link_map *caller = object_of(return_address);
  caller_handle = caller == nullptr ? nullptr : open_loaded(caller);
  mpi_init = find_in(caller_handle, "PMPI_Init");
  const void *next_init = dlsym(RTLD_NEXT, "PMPI_Init");
  if (mpi_init == nullptr) mpi_init = next_init;
  if (mpi_init == nullptr) mpi_init = find_anywhere("PMPI_Init");
  const link_map *library = mpi_init == nullptr ? nullptr : object_of(mpi_init);
  if (library == nullptr) return false;
  next_is_mpi = next_init == mpi_init;
  take_soname(library);
  mpi_handle = open_loaded(library);  // kept: the slots lead there
  return mpi_handle != nullptr;
}

void close_caller() {
  if (caller_handle != nullptr) dlclose(caller_handle);
  caller_handle = nullptr;
}

/// Folder of the recorders, without a slash at its end.
bool recorder_folder(Path &path) {
  if (const char *named = setting("CAIRN_RECORDERS"); named != nullptr && named[0] != '\0') {
    path.add(named);
    return true;
  }
  Dl_info info = {};
  if (dladdr(cairn_trampolines, &info) == 0) return false;
  const char *slash = strrchr(info.dli_fname, '/');
  if (slash == nullptr) return false;
  path.add(info.dli_fname, static_cast<size_t>(slash + 1 - info.dli_fname)).add("recorders");
  return true;
}

/// Adds the recorder of a library with the same binary interface, its own if there is one; false if there is none.
bool add_recorder(Path &path) {
  const auto there = [&](const char *soname) {
    Path whole;
    whole.add(path.text()).add("/").add(soname).add("/libcairn-recorder.so");
    if (whole.is_cut() || access(whole.text(), F_OK) != 0) return false;
    path = whole;
    return true;
  };
  if (there(mpi_soname)) return true;
  if (!has_mpich_abi(mpi_soname)) return false;
  for (const char *const *name = kMpichAbiNames; *name != nullptr; ++name) {
    if (there(*name)) return true;
  }
  return false;
}

/// The recorder's handle; nullptr, and why, if this process isn't to be recorded.
void *open_recorder(Path &reason) {
  if (setting("CAIRN_OFF") != nullptr) {
    reason.add("switched off by CAIRN_OFF");
    return nullptr;
  }
  Path path;
  if (!recorder_folder(path)) {
    reason.add("libcairn.so was preloaded without a path");
    return nullptr;
  }
  if (!add_recorder(path)) {
    reason.add("no recorder for ").add(mpi_soname);
    return nullptr;
  }
  void *recorder = dlopen(path.text(), RTLD_NOW | RTLD_LOCAL);
  if (recorder == nullptr) {
    const char *error = dlerror();
    reason.add("cannot load the recorder for ").add(mpi_soname).add(": ").add(error == nullptr ? "" : error);
    return nullptr;
  }
  auto attach = reinterpret_cast<CairnAttach>(dlsym(recorder, CAIRN_ATTACH_SYMBOL));
  if (attach == nullptr) {
    reason.add("the recorder for ").add(mpi_soname).add(" has no " CAIRN_ATTACH_SYMBOL);
    return nullptr;
  }
  table.version = kCairnPreloadVersion;
  table.mpi_handle = mpi_handle;
  table.mpi_soname = mpi_soname;
  table.find_allocation = find_allocation;
  table.forget = &shared.forget;
  table.epoch = &shared.epoch;
  table.module_epoch = &shared.module_epoch;
  table.mapping_epoch = &shared.mapping_epoch;
  table.watch = watch;
  table.fortran_entry = [] { return &cairn_fortran_entry; };
  table.thread_number = thread_number;
  table.threads = &shared.threads;
  table.leaves = &shared.leaves;
  table.changes_user = &shared.changes_user;
  table.setting = setting;
  table.keep_dl_error = keep_dl_error;
  table.restore_dl_error = restore_dl_error;
  table.too_early = &shared.too_early;
  table.next = [](const char *name) {
    void *found = real_function(name);
    return found == reinterpret_cast<void *>(missing_function) ? nullptr : found;
  };
  shared.recording_process = getpid();
  const int answer = attach(&table);
  if (answer != 0) {
    // It may have left pointers to itself behind, and stays loaded.
    __atomic_store_n(&shared.forget, static_cast<void (*)(uintptr_t)>(nullptr), __ATOMIC_RELEASE);
    reason.add("the recorder for ").add(mpi_soname).add(" declined");
    return nullptr;
  }
  wrap_fortran = reinterpret_cast<CairnWrapFortran>(dlsym(recorder, CAIRN_WRAP_FORTRAN_SYMBOL));
  auto place = reinterpret_cast<CairnMpiPlaceOf>(dlsym(recorder, CAIRN_RECORDER_PLACE_SYMBOL));
  __atomic_store_n(&place_of, place, __ATOMIC_RELEASE);
  return recorder;
}

/// Where the program has used up its descriptors, while one lives there are as many as its hard limit allows.
class MoreDescriptors {
 public:
  MoreDescriptors() {
    const int tried = open("/", O_PATH | O_CLOEXEC);
    if (tried >= 0) close(tried);
    if (tried >= 0 || errno != EMFILE || getrlimit(RLIMIT_NOFILE, &before_) != 0) return;
    const rlimit most = {before_.rlim_max, before_.rlim_max};
    raised_ = before_.rlim_cur < before_.rlim_max && setrlimit(RLIMIT_NOFILE, &most) == 0;
  }
  ~MoreDescriptors() {
    if (raised_) setrlimit(RLIMIT_NOFILE, &before_);
  }
  MoreDescriptors(const MoreDescriptors &) = delete;
  MoreDescriptors &operator=(const MoreDescriptors &) = delete;

 private:
  rlimit before_ = {};
  bool raised_ = false;
};

struct Line {
  Path path;
  Path text;
};

/// 0 or errno.
int write_line(void *argument) {
  const Line &line = *static_cast<Line *>(argument);
  const int file = open(line.path.text(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  if (write(file, line.text.text(), line.text.size()) < 0) unlink(line.path.text());
  close(file);
  return 0;
}

void write_reason(const Path &reason) {
  const char *spool = setting("CAIRN_SPOOL");
  if (spool == nullptr) return;
  Line line;
  line.path.add(spool).add("/unrecorded.").add_number(static_cast<unsigned long>(getpid()));
  line.text.add("cairn: ").add(reason.text()).add("\n");  // begins as base/spool_files.h says
  if (write_line(&line) != EMFILE) return;
  // In a process that shares all but the descriptors, of which it can close one, and of whose end no signal tells.
  alignas(16) static char stack[65536];
  const auto child = [](void *argument) {
    close(STDIN_FILENO);
    syscall(SYS_exit, write_line(argument));
    return 0;
  };
  const int made = clone(child, stack + sizeof stack, CLONE_VM | CLONE_VFORK, &line);
  if (made > 0) waitpid(made, nullptr, __WCLONE);
}

void fill_slots(const void *return_address) {
  Path reason;
  void *recorder = nullptr;
  const MoreDescriptors more;
  if (find_mpi(return_address)) {
    recorder = open_recorder(reason);
  } else {
    reason.add("the MPI library has no PMPI_Init");
  }
  unsigned index = 0;
  const char *profiling = kProfilingNames;  // in the same order
  unsigned answer = 0;
  for (const char *name = kNames; *name != '\0'; name += strlen(name) + 1, ++index) {
    // A library may lack what others of its interface, or later versions, have.
    void *target = recorder == nullptr || !library_has(name) ? nullptr : dlsym(recorder, name);
    const bool recorded = target != nullptr;
    if (!recorded) target = real_function(name);
    __atomic_store_n(&cairn_slots[index], target, __ATOMIC_RELEASE);
    if (*profiling == '\0' || strcmp(profiling + 1, name) != 0) continue;
    if (recorded && kGivesStatus[answer]) {
      Text<256> own;
      own.add(CAIRN_ANSWER_PREFIX).add(name);
      if (void *found = dlsym(recorder, own.text()); found != nullptr) target = found;
    }
    __atomic_store_n(&cairn_answer_slots[answer++], target, __ATOMIC_RELEASE);
    profiling += strlen(profiling) + 1;
  }
  close_caller();
  __atomic_store_n(&cairn_recording, recorder != nullptr, __ATOMIC_RELEASE);
  if (recorder == nullptr) write_reason(reason);
}

/// What a call of `name` from `return_address` would reach without us. Its object stays open, as a slot will lead
/// there.
void *find_next(const char *name, const void *return_address) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {  // loaded with RTLD_LOCAL
    const link_map *caller = object_of(return_address);
    void *handle = caller == nullptr ? nullptr : open_loaded(caller);
    found = find_in(handle, name);
    if (handle != nullptr) dlclose(handle);
  }
  if (found == nullptr) return reinterpret_cast<void *>(missing_function);
  if (const link_map *object = object_of(found); object != nullptr) open_loaded(object);
  return found;
}

/// Slots are filled for good once it is known whether there is a recorder.
void fill(void **slot, void *target) {
  if (__atomic_load_n(&progress, __ATOMIC_ACQUIRE) == kDone) __atomic_store_n(slot, target, __ATOMIC_RELEASE);
}

/// The binding's code that the program would have reached without us, or what the recorder has in its place.
void *resolve_fortran(unsigned index, const void *return_address) {
  const char *name = name_of(cairn_fortran_names, index);
  void *target = find_next(name, return_address);
  if (__atomic_load_n(&cairn_recording, __ATOMIC_ACQUIRE) != 0 && wrap_fortran != nullptr &&
      target != reinterpret_cast<void *>(missing_function)) {
    void *wrapper = wrap_fortran(name, cairn_fortran_entry.function & ~kCairnJumps, target);
    if (wrapper != nullptr) target = wrapper;
  }
  fill(&cairn_fortran_slots[index], target);
  return target;
}

/// Fills all slots, or waits until another thread has. False: it takes too long, or this very thread is at it, or the
/// process has not begun.
bool resolve_all(const void *return_address) {
  if (!has_begun()) {
    __atomic_fetch_add(&shared.too_early, 1, __ATOMIC_RELAXED);
    return false;
  }
  const long thread = syscall(SYS_gettid);
  int seen = kNew;
  if (__atomic_compare_exchange_n(&progress, &seen, kBusy, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    __atomic_store_n(&resolving_thread, thread, __ATOMIC_RELEASE);
    prepare_threads();
    fill_slots(return_address);
    __atomic_store_n(&progress, kDone, __ATOMIC_RELEASE);
  }
  const timespec pause = {0, 1000000};
  for (int waited = 0; __atomic_load_n(&progress, __ATOMIC_ACQUIRE) != kDone; ++waited) {
    if (__atomic_load_n(&resolving_thread, __ATOMIC_ACQUIRE) == thread || waited == 10000) return false;
    nanosleep(&pause, nullptr);
  }
  return true;
}

/// Whether the calling thread has entered a binding as `function` and waits for its C function.
bool is_answer(uint32_t function) {
  const uintptr_t depth = cairn_fortran_entry.stack - reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return cairn_fortran_entry.function == function && depth <= CAIRN_BINDING_FRAMES;
}

/// Where a PMPI_ function leads that is called for the first time, or whose call may be the first one of the process.
void *resolve_profiling(unsigned index, const void *return_address) {
  if (is_answer(kProfilingFunctions[index]) && resolve_all(return_address) && cairn_recording != 0) {
    return __atomic_load_n(&cairn_answer_slots[index], __ATOMIC_ACQUIRE);
  }
  void *target = find_next(name_of(kProfilingNames, index), return_address);
  fill(&cairn_profiling_slots[index], target);
  return target;
}

}  // namespace
}  // namespace cairn::preload

void *cairn_resolve(unsigned index, const void *return_address) {
  using namespace cairn::preload;
  const int saved_errno = errno;
  const cairn::Uncancelled guard;
  const KeptDlError kept;
  void *target = nullptr;
  if (index >= kProfilingBase) {
    target = resolve_profiling(index - kProfilingBase, return_address);
  } else if (index >= kFortranBase) {
    target = resolve_fortran(index - kFortranBase, return_address);
  } else if (resolve_all(return_address)) {
    target = __atomic_load_n(&cairn_slots[index], __ATOMIC_ACQUIRE);
  } else {
    target = real_function(name_of(kNames, index));
  }
  errno = saved_errno;
  return target;
}

extern "C" __attribute__((visibility("default"))) int cairn_mpi_place(CairnMpiPlace *place) {
  using namespace cairn::preload;
  const CairnMpiPlaceOf recorder = __atomic_load_n(&place_of, __ATOMIC_ACQUIRE);
  return recorder == nullptr ? -1 : recorder(place);
}
