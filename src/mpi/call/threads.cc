#include "mpi/call/threads.h"

#include <pthread.h>

#include "mpi/call/append.h"
#include "mpi/call/place.h"
#include "mpi/store/spiller.h"
#include "mpi/store/spool_file.h"
#include "mpi/store/uncancelled.h"

namespace cairn::recorder {

constinit thread_local Thread *current_thread __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

pthread_key_t thread_key;

void leave_thread(void *thread) {
  current_thread = nullptr;  // destructors that run after this one may call MPI: as a new thread
  static_cast<Thread *>(thread)->taken.store(false, std::memory_order_release);
}

/// A Thread that no living thread owns, now taken; else nullptr, and the last one of all.
Thread *take_free(Process &of, RecordedThread **last) {
  for (RecordedThread *known = of.threads.first.load(); known != nullptr; known = known->next) {
    bool free = false;
    if (known->taken.compare_exchange_strong(free, true)) {
      of.names.handles->end_epoch();  // its memos name addresses of another stack
      return &whole(*known);
    }
    *last = known;
  }
  return nullptr;
}

/// A new one, not yet among the others; nullptr without memory.
Thread *make_thread(Process &of) {
  Arena &arena = *of.arena;
  const volatile uint32_t *module_epoch = of.run.preload->module_epoch;
  auto *thread = arena.create<Thread>();
  auto *sites = arena.create<SiteTable>(arena, *of.names.modules, module_epoch);
  auto *python = arena.create<PythonSites>(arena, *of.names.modules);
  if (thread == nullptr || sites == nullptr || python == nullptr) return nullptr;
  thread->process = &of;
  thread->in_flight = {thread, thread->frames, &thread->before, &thread->stack};
  thread->site_table = sites;
  thread->python_sites = python;
  if (of.run.config.call_stacks) {
    thread->call_stacks = arena.create<CallStacks>(arena, *of.names.modules, *sites, *python, module_epoch);
  }
  thread->number = of.thread_count.load();
  thread->taken.store(true);
  const uint32_t segment = of.phase.load() == Phase::epilogue ? trace::SequenceRecord::kEpilogue : 0;
  constexpr size_t kBareRow = 256;  // what encode_bare needs must be there when nothing else is
  if (!open_sequence(*thread, segment) || !thread->row.reserve(arena, kBareRow)) return nullptr;
  const Run &run = of.run;
  if (!run.config.times) return thread;
  const TimingLog::Place place = {
      run.config.spool, run.host, run.pid, thread->number, &of.calibrated, &timing_setting(), [] {
        return wake_recorder(*process);
      }};
  return thread->timing.open(arena, place) ? thread : nullptr;
}

void add(Process &of, Thread &thread, RecordedThread *last) {
  if (last == nullptr) {
    of.threads.first.store(&thread);
  } else {
    of.names.handles->end_freshness();
    if (thread.number == 1) of.threads.tickets.store(last->spilled_calls + last->sequence.calls->length());
    last->next = &thread;
  }
  of.thread_count.fetch_add(1);
}

}  // namespace

bool prepare_threads() { return pthread_key_create(&thread_key, leave_thread) == 0; }

Thread *join_thread(uintptr_t frame_address) {
  const Uncancelled guard;
  Process &of = *process;
  static thread_local bool refused = false;  // no memory once: not tried at every call
  if (refused) return nullptr;
  const SpinGuard guard_threads(of.threads.lock);
  RecordedThread *last = nullptr;
  Thread *thread = take_free(of, &last);
  if (thread == nullptr) {
    thread = make_thread(of);
    if (thread == nullptr) {
      refused = true;
      of.losses.note(Loss::threads);
      leave_reason(of.run, reason_of(Loss::threads));
      return nullptr;
    }
    add(of, *thread, last);
  }
  find_place(of, Need::if_mpi_knows);
  thread->depth = 0;
  thread->busy = false;
  thread->stack = ThreadStack::of_calling_thread(frame_address);
  current_thread = thread;
  pthread_setspecific(thread_key, thread);
  return thread;
}

}  // namespace cairn::recorder
