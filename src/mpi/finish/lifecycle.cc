// Life and death of a recording: attach, threads that come and go, MPI_Init, MPI_Finalize, MPI_Abort, exit.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>

#include "base/launcher.h"
#include "mpi/call/call_names.h"
#include "mpi/call/encoder.h"
#include "mpi/call/engine.h"
#include "mpi/call/fortran.h"
#include "mpi/finish/finish.h"
#include "mpi/oracle/log.h"
#include "mpi/store/arena_file.h"
#include "mpi/store/harvest.h"
#include "mpi/store/spill.h"
#include "mpi/store/spiller.h"
#include "mpi/store/uncancelled.h"
#include "spec/abi.h"
#include "spec/ids.h"

namespace cairn::recorder {

void *real_function[1024];
void *pmpi_function[1024];

namespace {

namespace function_id = spec::function_id;

/// Functions that mean something to the recorder itself.
enum class Landmark : uint8_t { none, init, session, finalize, abort };
Landmark landmarks[1024];

pthread_key_t thread_key;

void leave_thread(void *thread) {
  current_thread = nullptr;  // destructors that run after this one may call MPI: as a new thread
  static_cast<Thread *>(thread)->taken.store(false, std::memory_order_release);
}

/// A forked child is another process: it must not write to what it shares with its parent, nor be recorded as it.
void after_fork_in_child() {
  if (process != nullptr && process->preload != nullptr) *process->preload->forget = nullptr;
  process = nullptr;
  current_thread = nullptr;
  forget_spiller();
}

class Lock {
 public:
  explicit Lock(std::atomic_flag &flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~Lock() { flag_.clear(std::memory_order_release); }
  Lock(const Lock &) = delete;
  Lock &operator=(const Lock &) = delete;

 private:
  std::atomic_flag &flag_;
};

/// Rank and size as the launcher told them, for programs that end without (or never call) MPI_Init.
void place_from_environment(Process &of) {
  of.rank = launched_rank();
  of.size = launched_size();
  if (of.size <= of.rank) of.size = of.rank + 1;
}

bool load_functions(const CairnPreload &preload) {
  for (const spec::Function &function : spec::functions()) {
    landmarks[function.id] = Landmark::none;
    if (function_names[function.id] == nullptr) continue;
    char name[128];
    snprintf(name, sizeof name, "P%s", function_names[function.id]);
    pmpi_function[function.id] = dlsym(preload.mpi_handle, name);
    real_function[function.id] = pmpi_function[function.id];
  }
  landmarks[function_id::Init] = landmarks[function_id::Init_thread] = Landmark::init;
  landmarks[function_id::Session_init] = Landmark::session;
  landmarks[function_id::Finalize] = Landmark::finalize;
  landmarks[function_id::Abort] = Landmark::abort;
  return true;
}

/// Puts the oracle's loggers between the wrappers and MPI.
void load_oracle(const Process &of) {
  if (of.config.oracle == nullptr) return;
  Dl_info here{};
  char path[PATH_MAX];
  if (dladdr(reinterpret_cast<void *>(&load_functions), &here) == 0) return;
  const char *slash = strrchr(here.dli_fname, '/');
  const int folder = slash == nullptr ? 0 : static_cast<int>(slash - here.dli_fname + 1);
  if (snprintf(path, sizeof path, "%.*slibcairn-oracle.so", folder, here.dli_fname) >= static_cast<int>(sizeof path))
    return;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  auto attach =
      library == nullptr ? nullptr : reinterpret_cast<CairnOracleAttach>(dlsym(library, CAIRN_ORACLE_ATTACH_SYMBOL));
  if (attach == nullptr || attach(pmpi_function, real_function) != 0) return leave_reason(of, "the oracle cannot log");
  // So that the log says when memory that MPI has seen was freed.
  auto watch = reinterpret_cast<CairnOracleWatch>(dlsym(library, CAIRN_ORACLE_WATCH_SYMBOL));
  if (watch != nullptr) watch(of.preload->epoch);
}

bool enter_world_and_self(Process &of, const mpi::Constants &constants) {
  for (const mpi::Handle handle : {constants.comm_world, constants.comm_self}) {
    HandleEntry *entry = of.handles->find(spec::Kind::comm, handle);
    if (entry == nullptr) return false;
    entry->comm = of.arena->create<Communicator>();
    if (entry->comm == nullptr) return false;
  }
  return true;
}

bool make_function_sites(Process &of) {
  const size_t n = spec::functions().size();
  of.function_site = of.arena->allocate_array<Site>(n);
  if (of.function_site == nullptr) return false;
  for (size_t id = 0; id < n; ++id) {
    // They lie in a module of their own behind the real ones; harvest gives it its number.
    of.function_site[id] = Site{static_cast<uint32_t>(id), kNoModule, id, false};
  }
  return true;
}

bool make_tables(Process &of, const CairnPreload &preload, const mpi::Constants &constants) {
  Arena &arena = *of.arena;
  of.modules = arena.create<Modules>(arena, pmpi_function[function_id::Initialized]);
  if (of.modules == nullptr) return false;
  of.addresses = arena.create<AddressSpace>(arena, *of.modules, preload);
  of.handles = arena.create<HandleTable>(arena);
  return of.addresses != nullptr && of.handles != nullptr && enter_predefined(*of.handles) &&
         enter_world_and_self(of, constants) && make_function_sites(of);
}

void copy(char *to, size_t size, const char *from) {
  strncpy(to, from, size - 1);
  to[size - 1] = '\0';
}

/// Calls of this thread that are still in flight, the outermost first: none of them will return.
void record_unfinished(Thread &thread, Frame &last) {
  for (uint32_t i = 0; i < thread.depth; ++i) {
    Frame &frame = thread.frames[i];
    if ((frame.flags & kFrameRecorded) == 0) record(thread, frame, false, thread.process->clock.ticks());
    if (&frame == &last) break;
  }
}

/// Spilled segments are in what was handed over.
void drop_segments(Process &of) {
  if (of.config.spool == nullptr) return;
  for (uint32_t n = 0; n < of.spilled.load(); ++n) unlink(segment_path(of, of.config.spool, n).c_str());
  of.spilled.store(0);
}

void drop_closed(Process &of) {
  ClosedSequence *closed = of.closed.load();
  of.closed.store(nullptr);  // its memory is not used again
  if (closed != nullptr) closed->timing.reset();
}

/// What the recording was is over; from here on calls go into a sequence of their own.
void begin_epilogue(Process &of) {
  // Each thread opens its own when it next calls: it may be on its way through the old one.
  for (Thread *thread = of.threads.load(); thread != nullptr; thread = thread->next) {
    __atomic_store_n(&thread->wants_epilogue, true, __ATOMIC_RELEASE);
  }
  drop_segments(of);
  drop_closed(of);
  of.degraded[0] = '\0';
  of.lost_calls = 0;
  enter_phase(of, Phase::epilogue);
}

/// Waits until no other thread is inside the recorder, a tenth of a second at most. The phase is off: none will begin.
void let_others_leave(const Process &of) {
  const uint64_t begin = Clock::monotonic();
  for (const Thread *thread = of.threads.load(); thread != nullptr; thread = thread->next) {
    while (thread != current_thread && __atomic_load_n(&thread->busy, __ATOMIC_ACQUIRE) &&
           Clock::monotonic() - begin < 100'000'000) {
      sched_yield();
    }
  }
}

void finish(Process &of, bool together, const char *status) {
  const Uncancelled guard;
  enter_phase(of, Phase::off);
  let_others_leave(of);
  stop_spiller();
  if (together) {
    finish_together(of);
  } else {
    finish_alone(of, status);
  }
}

/// Runs inside PMPI_Finalize, before it takes MPI down.
void on_finalize() {
  Process *of = process;
  Thread *thread = current_thread;
  if (of == nullptr || of->finished) return;
  // A rank that gave up has stopped recording, but the others wait for what it has.
  const bool recording = of->phase.load() == Phase::recording;
  of->finished = true;
  of->complete = true;
  if (recording && thread != nullptr && thread->depth > 0 &&
      landmarks[thread->frames[thread->depth - 1].function] == Landmark::finalize) {
    Frame &frame = thread->frames[thread->depth - 1];
    frame.result = static_cast<uint64_t>(int64_t{mpi::success});  // if it should fail, nobody is left to record it
    record(*thread, frame, true, of->clock.ticks());
  }
  finish(*of, of->have_own_comm, "complete");
  if (of->have_own_comm) mpi::close_own_comm(of->own_comm);
  of->have_own_comm = false;
  if (recording) begin_epilogue(*of);
}

void after_init(Process &of) {
  if (of.initialized || !mpi::initialized()) return;
  of.initialized = true;
  of.clock.calibrate();
  if (!mpi::multiple_threads() && !of.has_session) of.handles->unshare();
  if (of.config.merge_after) {
    mpi::place_in_world(&of.rank, &of.size);
  } else {
    of.have_own_comm = mpi::open_own_comm(&of.own_comm, &of.rank, &of.size);
  }
  if (!mpi::at_finalize(on_finalize)) degrade(of, "no attribute on MPI_COMM_SELF");
}

/// The process ends, by exit or by returning from main.
__attribute__((destructor)) void at_exit() {
  Process *of = process;
  if (of == nullptr || of->pid != getpid()) return;
  const Phase phase = of->phase.load();
  const Uncancelled guard;
  if (!of->finished && !of->left_part) {
    if (!of->initialized) place_from_environment(*of);
    bool any = of->closed.load() != nullptr || of->spilled.load() != 0;
    for (const Thread *thread = of->threads.load(); thread != nullptr; thread = thread->next) {
      any = any || (thread->sequence.calls != nullptr && thread->sequence.calls->length() != 0);
    }
    // A program may finalize sessions only, or ask for MPI_Initialized and never initialise: then nothing is missing.
    of->complete = !of->initialized;
    Thread *own = current_thread;
    if (own != nullptr && own->depth > 0) record_unfinished(*own, own->frames[own->depth - 1]);
    if (any) finish(*of, false, of->initialized ? "exited without MPI_Finalize" : "complete");
  }
  if (phase == Phase::epilogue) {
    bool any = false;
    for (const Thread *thread = of->threads.load(); thread != nullptr; thread = thread->next) {
      any = any || (!thread->wants_epilogue && thread->sequence.calls->length() != 0);
    }
    if (any) finish_epilogue(*of);
  }
  enter_phase(*of, Phase::off);
  stop_spiller();
  drop_closed(*of);
  for (Thread *thread = of->threads.load(); thread != nullptr; thread = thread->next) thread->timing.reset();
  remove_arena_file(*of);
  drop_segments(*of);
  if (of->config.spool != nullptr) rmdir(of->config.spool);  // if nothing is left in it
  *of->preload->forget = nullptr;
  process = nullptr;
}

/// A thread goes unrecorded.
void refuse(Process &of) {
  degrade(of, "no memory for the tables of a thread; raise the limit with --memory");
  leave_reason(of, of.degraded);
}

}  // namespace

bool is_landmark(uint32_t function) { return landmarks[function] != Landmark::none; }

void before_landmark(Thread &thread, Frame &frame) {
  Process &of = *thread.process;
  switch (landmarks[frame.function]) {
    case Landmark::session:
      of.has_session = true;
      of.handles->share();
      break;
    case Landmark::init:
      if (!of.initialized) of.init_ns = of.clock.at(frame.begin);
      break;
    case Landmark::abort:
      if (of.finished) break;
      if (of.phase.load() == Phase::recording) record_unfinished(thread, frame);
      finish(of, false, "aborted");
      break;
    default:
      break;
  }
}

void after_landmark(Thread &thread, Frame &frame) {
  Process &of = *thread.process;
  const bool succeeded = frame.result == static_cast<uint64_t>(int64_t{mpi::success});
  if (landmarks[frame.function] == Landmark::init && succeeded) after_init(of);
  // Our attribute was not set, or not called: then without the others.
  if (landmarks[frame.function] == Landmark::finalize && succeeded && !of.finished) {
    const bool recording = of.phase.load() == Phase::recording;
    of.finished = true;
    of.complete = true;
    finish(of, false, "complete");
    if (recording) begin_epilogue(of);
  }
}

bool open_sequence(Thread &thread, uint32_t segment) {
  Arena &arena = *thread.process->arena;
  forget_expected(thread.frames[0]);  // a memo of the old sequence
  thread.expected = nullptr;
  thread.sequence = Sequence{};
  thread.sequence.segment = segment;
  thread.sequence.first_ticket = thread.spilled_calls;
  thread.sequence.calls = arena.create<grammar::Builder>(arena);
  return thread.sequence.calls != nullptr;
}

void unrecorded_init(int result) {
  if (process != nullptr && result == mpi::success) after_init(*process);
}

Thread *join_thread(uintptr_t frame_address) {
  const Uncancelled guard;
  Process &of = *process;
  static thread_local bool refused = false;  // no memory once: not tried at every call
  if (refused) return nullptr;
  const Lock lock(of.threads_lock);
  Thread *thread = nullptr;
  Thread *last = nullptr;
  for (Thread *known = of.threads.load(); known != nullptr; known = known->next) {
    bool free = false;
    if (thread == nullptr && known->taken.compare_exchange_strong(free, true)) {
      thread = known;
      of.handles->end_epoch();  // its memos name addresses of another stack
    }
    last = known;
  }
  if (thread == nullptr) {
    thread = of.arena->create<Thread>();
    SiteTable *sites = of.arena->create<SiteTable>(*of.arena, *of.modules, of.preload->module_epoch);
    if (thread == nullptr || sites == nullptr) {
      refused = true;
      refuse(of);
      return nullptr;
    }
    thread->process = &of;
    thread->site_table = sites;
    if (of.config.call_stacks) {
      thread->call_stacks = of.arena->create<CallStacks>(*of.arena, *of.modules, *sites, of.preload->module_epoch);
    }
    thread->number = of.thread_count.load();
    thread->taken.store(true);
    const uint32_t segment = of.phase.load() == Phase::epilogue ? trace::SequenceRecord::kEpilogue : 0;
    constexpr size_t kBareRow = 256;  // what encode_bare needs must be there when nothing else is
    if (!open_sequence(*thread, segment) || !thread->row.reserve(*of.arena, kBareRow) ||
        (of.config.lossless && !thread->timing.open(*of.arena, of.config.spool, of.host, of.pid, thread->number))) {
      refused = true;
      refuse(of);
      return nullptr;
    }
    if (last == nullptr) {
      of.threads.store(thread);
    } else {
      of.handles->end_freshness();
      if (thread->number == 1) of.tickets.store(last->spilled_calls + last->sequence.calls->length());
      last->next = thread;
    }
    of.thread_count.fetch_add(1);
  }
  thread->depth = 0;
  thread->busy = false;
  thread->stack = ThreadStack::of_calling_thread(frame_address);
  current_thread = thread;
  pthread_setspecific(thread_key, thread);
  return thread;
}

}  // namespace cairn::recorder

extern "C" __attribute__((visibility("default"))) int cairn_recorder_attach(const CairnPreload *preload) {
  using namespace cairn::recorder;
  if (preload->version != kCairnPreloadVersion || process != nullptr) return -1;
  const Config config = Config::from_environment();
  mpi::Constants constants;
  if (config.output == nullptr || !load_functions(*preload) || !prepare_facts(preload->mpi_handle, &constants) ||
      !mpi::load(preload->mpi_handle, constants)) {
    // Wrappers pass through: real_function is filled as far as the library goes.
    return -1;
  }
  Process *of = make_process(config);
  if (of == nullptr) return -1;
  of->preload = preload;
  of->preload_epoch = preload->epoch;
  of->untouched_then.store(of->arena->limit());
  of->arena->wait_with(wait_for_memory);
  of->clock.start(config.lossless);
  of->call_sites = config.call_sites;
  of->rank = -1;
  of->size = 0;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  of->start_unix_ns = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  copy(of->command, sizeof of->command, config.command);
  snprintf(of->recorder, sizeof of->recorder, "cairn %s %s", CAIRN_VERSION, abi.soname);
  if (!mpi::library_version(of->mpi_version, sizeof of->mpi_version))
    copy(of->mpi_version, sizeof of->mpi_version, "?");
  if (!make_tables(*of, *preload, constants) || pthread_key_create(&thread_key, leave_thread) != 0) {
    remove_arena_file(*of);
    return -1;
  }
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  prepare_fortran(*preload);
  load_oracle(*of);
  process = of;
  of->phase.store(Phase::recording);
  return 0;
}
