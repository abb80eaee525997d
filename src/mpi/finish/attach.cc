// Attaching: what the preload calls when a process makes its first MPI call.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "base/launcher.h"
#include "mpi/call/facts.h"
#include "mpi/call/fortran_attributes.h"
#include "mpi/call/fortran_calls.h"
#include "mpi/call/fortran_sites.h"
#include "mpi/call/heap_segments.h"
#include "mpi/call/threads.h"
#include "mpi/call/tracing.h"
#include "mpi/finish/lifecycle.h"
#include "mpi/names/dl_error.h"
#include "mpi/store/arena_file.h"
#include "mpi/store/spill.h"
#include "mpi/store/spiller.h"
#include "mpi/store/spool_file.h"
#include "spec/abi.h"
#include "spec/ids.h"
#include "spec/logger.h"

namespace cairn::recorder {
namespace {

/// A forked child is another process: it must not write to what it shares with its parent, nor be recorded as it.
void after_fork_in_child() {
  Process *of = process;
  if (of != nullptr && of->run.preload != nullptr) {
    *of->run.preload->forget = nullptr;
    *of->run.preload->threads = nullptr;
    *of->run.preload->leaves = nullptr;
    *of->run.preload->changes_user = nullptr;
  }
  process = nullptr;
  current_thread = nullptr;
  if (of != nullptr) leave_arena_to_parent(*of);
  forget_spiller();
}

/// Where the object lies that has this address.
struct Extent {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  [[nodiscard]] bool has(const void *address) const {
    return reinterpret_cast<uintptr_t>(address) - begin < end - begin;
  }
};
Extent extent_of(const void *address) {
  struct Asked {
    const void *address;
    Extent found;
  } asked{address, {}};
  dl_iterate_phdr(
      [](dl_phdr_info *object, size_t, void *of) {
        Extent extent{UINTPTR_MAX, 0};
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto &part = object->dlpi_phdr[i];
          if (part.p_type != PT_LOAD) continue;
          extent.begin = std::min<uintptr_t>(extent.begin, object->dlpi_addr + part.p_vaddr);
          extent.end = std::max<uintptr_t>(extent.end, object->dlpi_addr + part.p_vaddr + part.p_memsz);
        }
        auto *here = static_cast<Asked *>(of);
        if (extent.begin >= extent.end || !extent.has(here->address)) return 0;
        here->found = extent;
        return 1;
      },
      &asked);
  return asked.found;
}

/// MPI's library for Fortran is loaded, which may call PMPI_ functions where a C program calls MPI_ ones.
bool has_fortran() {
  const auto look = [](dl_phdr_info *object, size_t, void *) {
    const char *name = strrchr(object->dlpi_name, '/');
    for (const char *part : {"libmpi_mpifh", "libmpi_usempi", "libmpichfort", "libmpifort"}) {
      if (name != nullptr && strncmp(name + 1, part, strlen(part)) == 0) return 1;
    }
    return 0;
  };
  return dl_iterate_phdr(look, nullptr) != 0;
}

/// Whether `first`, which a call of an MPI function reaches first, stands in front of ours. Not our own layer over
/// files, which calls ours.
bool is_in_front(const void *first, const Extent &ours, const Extent &library) {
  if (first == nullptr || ours.has(first) || library.has(first)) return false;
  Dl_info where{};
  return dladdr(first, &where) == 0 || strstr(where.dli_fname, "libcairn-arrays.so") == nullptr;
}

/// A call goes where it would without us: another tool, or a library of the program, may stand in front of MPI. Not
/// where Fortran calls MPI, which such a library may see by other names, or not at all, and would see twice. Tells how
/// many functions stand in front of ours, so that calls of them do not come here.
uint64_t load_functions(const CairnPreload &preload) {
  const Extent library = extent_of(dlsym(preload.mpi_handle, "PMPI_Init"));
  const Extent ours = extent_of(reinterpret_cast<const void *>(preload.next));
  const bool others_too = !has_fortran();
  uint64_t in_front = 0;
  for (const spec::Function &function : spec::functions()) {
    const char *const own_name = function_names[function.id];
    if (own_name == nullptr) continue;
    char name[128];
    snprintf(name, sizeof name, "P%s", own_name);
    void *const function_of_mpi = dlsym(preload.mpi_handle, name);
    pmpi_function[function.id] = real_function[function.id] = function_of_mpi;
    if (function_of_mpi == nullptr) continue;
    if (is_in_front(dlsym(RTLD_DEFAULT, own_name), ours, library)) ++in_front;
    if (!others_too) continue;
    void *const next = preload.next(own_name);
    if (next != nullptr && !library.has(next)) real_function[function.id] = next;
  }
  return in_front;
}

/// Puts the oracle's loggers between the wrappers and MPI.
void load_oracle(const Process &of) {
  if (of.run.config.oracle == nullptr) return;
  Dl_info here{};
  char path[PATH_MAX];
  if (dladdr(reinterpret_cast<void *>(&load_functions), &here) == 0) return;
  const char *slash = strrchr(here.dli_fname, '/');
  const int folder = slash == nullptr ? 0 : static_cast<int>(slash - here.dli_fname + 1);
  const int length = snprintf(path, sizeof path, "%.*s" CAIRN_LOGGER_LIBRARY, folder, here.dli_fname);
  if (length >= static_cast<int>(sizeof path)) return;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const auto find = [&](const char *name) { return library == nullptr ? nullptr : dlsym(library, name); };
  auto attach = reinterpret_cast<CairnLoggerAttach>(find(CAIRN_LOGGER_ATTACH));
  if (attach == nullptr || attach(pmpi_function, real_function) != 0) {
    return leave_reason(of.run, "the oracle cannot log");
  }
  oracle_between = true;
  // So that the log says when memory that MPI has seen was freed.
  auto watch = reinterpret_cast<CairnLoggerWatch>(find(CAIRN_LOGGER_WATCH));
  if (watch != nullptr) watch(of.run.preload->epoch);
  auto threads = reinterpret_cast<CairnLoggerThreads>(find(CAIRN_LOGGER_THREADS));
  if (threads != nullptr) threads([] { return current_thread == nullptr ? UINT32_MAX : current_thread->number; });
  auto unwanted = reinterpret_cast<CairnLoggerUnwanted>(find(CAIRN_LOGGER_UNWANTED));
  if (unwanted != nullptr) unwanted(unwanted_status);
}

bool enter_world_and_self(Process &of, const mpi::Constants &constants) {
  for (const mpi::Handle handle : {constants.comm_world, constants.comm_self}) {
    HandleEntry *entry = of.names.handles->find(spec::Kind::comm, handle);
    if (entry == nullptr) return false;
    entry->comm = of.arena->create<Communicator>();
    if (entry->comm == nullptr) return false;
  }
  return true;
}

bool make_function_sites(Process &of) {
  const size_t n = spec::functions().size();
  of.names.function_sites = of.arena->allocate_array<Site>(n);
  if (of.names.function_sites == nullptr) return false;
  for (size_t id = 0; id < n; ++id) {
    // They lie in a module of their own behind the real ones; harvest gives it its number.
    of.names.function_sites[id] = Site{static_cast<uint32_t>(id), kNoModule, id, false};
  }
  return true;
}

bool make_tables(Process &of, const CairnPreload &preload, const mpi::Constants &constants) {
  Arena &arena = *of.arena;
  of.names.modules = arena.create<Modules>(arena, pmpi_function[spec::function_id::Initialized]);
  if (of.names.modules == nullptr) return false;
  of.names.addresses = arena.create<AddressSpace>(arena, *of.names.modules, preload);
  if (of.names.addresses != nullptr) of.names.addresses->tell_segments(note_heap_segment);
  of.names.handles = arena.create<HandleTable>(arena);
  of.names.local = arena.create<LocalValues>(local_values());
  return of.names.local != nullptr && of.names.addresses != nullptr && of.names.handles != nullptr &&
         enter_predefined(*of.names.handles) && enter_world_and_self(of, constants) && make_function_sites(of);
}

void copy(char *to, size_t size, const char *from) {
  strncpy(to, from, size - 1);
  to[size - 1] = '\0';
}

}  // namespace
}  // namespace cairn::recorder

extern "C" __attribute__((visibility("default"))) int cairn_recorder_attach(const CairnPreload *preload) {
  using namespace cairn::recorder;
  if (preload->version != kCairnPreloadVersion || process != nullptr) return -1;
  Config config = Config::from(preload->setting);
  if (config.output == nullptr) return -1;
  const bool trusted = config.spool == nullptr || enter_spool(config.spool);
  if (!trusted) config.spool = nullptr;
  dl_error_keeper = preload;
  // If anything fails from here on wrappers pass through: this is filled as far as the library goes.
  const uint64_t in_front = load_functions(*preload);
  mpi::Constants constants;
  if (!prepare_facts(preload->mpi_handle, &constants) || !mpi::load(preload->mpi_handle, constants)) return -1;
  Process *of = make_process(config);
  if (of == nullptr) return -1;
  if (!trusted) of->losses.note(Loss::foreign_spool);
  if (in_front != 0) of->losses.note(Loss::in_front, in_front);
  if (const uint32_t calls = *preload->too_early; calls != 0) of->losses.note(Loss::too_early, calls);
  of->run.preload = preload;
  of->names.preload_epoch = preload->epoch;
  of->spilling.untouched_then.store(of->arena->limit());
  of->arena->wait_with(wait_for_memory);
  of->calibrated.start();
  of->clock = of->calibrated.clock();
  of->run.rank = -1;
  of->run.size = 0;
  of->run.launched_rank = cairn::launched_rank();
  of->run.launched_size = cairn::launched_size();
  if (const char *job = cairn::launched_job()) copy(of->run.launcher_job, sizeof of->run.launcher_job, job);
  if (const char *parent = cairn::launched_parent()) {
    copy(of->run.spawned_by, sizeof of->run.spawned_by, parent);
    of->run.spawned_by[strcspn(of->run.spawned_by, ":")] = '\0';
  }
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  of->run.start_unix_ns = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  of->run.common.unix_offset_ns = of->run.start_unix_ns - static_cast<int64_t>(Clock::monotonic());
  copy(of->run.command, sizeof of->run.command, config.command);
  copy(of->run.timing, sizeof of->run.timing, timing_setting().text().c_str());
  snprintf(of->run.recorder, sizeof of->run.recorder, "cairn %s %s", CAIRN_VERSION, abi.soname);
  if (!mpi::library_version(of->run.mpi_version, sizeof of->run.mpi_version))
    copy(of->run.mpi_version, sizeof of->run.mpi_version, "?");
  if (!make_tables(*of, *preload, constants)) {
    remove_arena_file(*of);
    return -1;
  }
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  set_landmarks(*preload);
  prepare_tracing(*of);
  prepare_fortran_sites(*preload);
  prepare_fortran(*preload);
  prepare_fortran_calls(*preload, config.oracle != nullptr);
  load_oracle(*of);
  process = of;
  prepare_threads(*preload);
  of->progress.attached = true;
  of->phase.store(config.start_off ? Phase::paused : Phase::recording);
  return 0;
}
