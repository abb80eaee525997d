#include "mpi/call/threads.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/uncancelled.h"
#include "mpi/call/append.h"
#include "mpi/call/place.h"
#include "mpi/store/descriptors.h"
#include "mpi/store/spiller.h"
#include "mpi/store/spool_file.h"

namespace cairn::recorder {

constinit thread_local Thread *current_thread __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

/// What is known of the number of a thread. Written by who makes the thread, by itself and by who waits for it: so by
/// one at a time.
struct Numbered {
  uint32_t made;  ///< threads of that number of which it was kept that they were made, since one of them called MPI
  bool is_kept;   ///< that the one that has the number now was made
  bool has_called;
};
Numbered numbered[kCairnThreadNumbers];

/// For threads without a number.
constexpr uint32_t kFirstFurther = kCairnThreadNumbers;

/// The preload's number of the thread that called MPI first, which has the number 0 here.
uint32_t first_number;

uint32_t number_here(uint32_t number) { return number == first_number ? 0 : number == 0 ? first_number : number; }

/// False: nothing is kept of what the calling thread does now.
bool keep(uint32_t number, bool ends) {
  Process *of = process;
  Thread *thread = current_thread;
  if (of == nullptr || thread == nullptr || thread->wants_epilogue) return false;
  if (of->phase.load(std::memory_order_relaxed) == Phase::off) return false;
  Sequence &sequence = thread->sequence;
  if (sequence.heap.add_thread(*of->arena, number_here(number), ends, sequence.calls->length())) return true;
  of->losses.note(Loss::heap);
  return false;
}

bool is_the_programs() {
  if (is_making_thread()) return false;
  const Thread *thread = current_thread;
  return thread == nullptr || (thread->depth == 0 && !thread->busy);
}

void made(uint32_t number) {
  Numbered &known = numbered[number];
  known.has_called = false;
  known.is_kept = keep(number, false);
  if (known.is_kept) ++known.made;
}

void not_made(uint32_t number) {
  // That it was made is kept: it begins and ends before the next of that number.
  numbered[number].is_kept = false;
}

void joined(uint32_t number) {
  if (numbered[number].has_called) keep(number, true);
  numbered[number].is_kept = false;
}

void ends() {
  Thread *thread = current_thread;
  if (thread == nullptr) return;
  if (thread->number < kFirstFurther) keep(number_here(thread->number), true);
  current_thread = nullptr;  // destructors that run after this may call MPI: as a new thread
  thread->taken.store(false, std::memory_order_release);
}

/// The calling thread makes its first call.
void begins(uint32_t number) {
  Numbered &known = numbered[number];
  known.has_called = true;
  for (; known.made > (known.is_kept ? 1U : 0U); --known.made) {
    keep(number, false);
    keep(number, true);
  }
  if (std::exchange(known.made, 0) != 0) keep(number, false);
}

/// The Thread with that number, or with any that the preload does not give, if no living thread owns it: now taken.
/// Else nullptr, and the number of a new one.
Thread *take_free(Process &of, uint32_t *number) {
  const auto take = [&](RecordedThread *known) {
    bool free = false;
    return known->taken.compare_exchange_strong(free, true);
  };
  uint32_t further = kFirstFurther;
  for (RecordedThread *known = of.threads.first.load(); known != nullptr; known = known->next) {
    const bool fits = *number == kCairnNoNumber ? known->number >= kFirstFurther : known->number == *number;
    if (fits && take(known)) {
      of.names.handles->end_epoch();  // its memos name addresses of another stack
      return &whole(*known);
    }
    assert(*number == kCairnNoNumber || !fits);
    further = std::max(further, known->number + 1);
  }
  if (*number == kCairnNoNumber) *number = further;
  return nullptr;
}

/// A new one, not yet among the others; nullptr without memory.
Thread *make_thread(Process &of, uint32_t number) {
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
  thread->number = number;
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

void add(Process &of, Thread &thread) {
  RecordedThread *last = of.threads.first.load();
  while (last != nullptr && last->next != nullptr) last = last->next;
  if (last == nullptr) {
    of.threads.first.store(&thread);
  } else {
    of.names.handles->end_freshness();
    if (of.thread_count.load() == 1) of.threads.tickets.store(last->spilled_calls + last->sequence.calls->length());
    last->next = &thread;
  }
  of.thread_count.fetch_add(1);
}

}  // namespace

void prepare_threads(const CairnPreload &preload) {
  static CairnThreads told = {is_the_programs, made, not_made, joined, ends};
  *preload.threads = &told;
}

Thread *join_thread(uintptr_t frame_address) {
  const Uncancelled guard;
  Process &of = *process;
  static thread_local bool refused = false;  // no memory once: not tried at every call
  if (refused) return nullptr;
  const uint32_t number = of.run.preload->thread_number();
  const SpinGuard guard_threads(of.threads.lock);
  if (of.thread_count.load() == 0 && number != kCairnNoNumber) first_number = number;
  uint32_t own = number == kCairnNoNumber ? number : number_here(number);
  Thread *thread = take_free(of, &own);
  if (thread == nullptr) {
    thread = make_thread(of, own);
    if (thread == nullptr) {
      refused = true;
      of.losses.note(Loss::threads);
      leave_reason(of.run, reason_of(Loss::threads));
      return nullptr;
    }
    add(of, *thread);
  }
  find_place(of, Need::if_mpi_knows);
  thread->depth = 0;
  thread->busy = false;
  thread->stack = ThreadStack::of_calling_thread(frame_address);
  current_thread = thread;
  if (number != kCairnNoNumber) begins(number);
  return thread;
}

}  // namespace cairn::recorder
