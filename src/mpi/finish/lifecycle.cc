// Life and death of a recording: MPI_Init, MPI_Finalize, MPI_Abort, exit.
#include "mpi/finish/lifecycle.h"

#include <sched.h>
#include <unistd.h>

#include <cassert>

#include "base/uncancelled.h"
#include "mpi/call/append.h"
#include "mpi/call/engine.h"
#include "mpi/call/heap_segments.h"
#include "mpi/call/landmarks.h"
#include "mpi/call/place.h"
#include "mpi/call/tracing.h"
#include "mpi/finish/compare_clocks.h"
#include "mpi/finish/finish.h"
#include "mpi/finish/limits.h"
#include "mpi/store/arena_file.h"
#include "mpi/store/segments.h"
#include "mpi/store/spill.h"
#include "mpi/store/spiller.h"
#include "mpi/store/spool_file.h"
#include "spec/ids.h"

namespace cairn::recorder {
namespace {

namespace function_id = spec::function_id;

/// The recorder's own communicator, there within MPI_Finalize alone: until then the program has the communicators, and
/// their numbers, that it has without a recorder. (Where one more was made in MPI_Init, even if it was freed, Open MPI
/// 4.1.4 hangs in MPI_Dist_graph_create.)
mpi::Handle own_comm;

/// What the recording was is over; from here on calls go into a sequence of their own.
void begin_epilogue(Process &of) {
  // Each thread opens its own when it next calls: it may be on its way through the old one.
  for (RecordedThread *thread = of.threads.first.load(); thread != nullptr; thread = thread->next) {
    __atomic_store_n(&thread->wants_epilogue, true, __ATOMIC_RELEASE);
  }
  drop_segments(of);
  of.losses.forget();
  of.names.addresses->tell_segments(note_heap_segment);
  of.enter(Phase::epilogue);
}

/// Waits until no other thread is inside the recorder, a tenth of a second at most. The phase is off: none will begin.
void let_others_leave(const Process &of) {
  const uint64_t begin = Clock::monotonic();
  for (RecordedThread *thread = of.threads.first.load(); thread != nullptr; thread = thread->next) {
    while (thread != current_thread && __atomic_load_n(&whole(*thread).busy, __ATOMIC_ACQUIRE) &&
           Clock::monotonic() - begin < 100'000'000) {
      sched_yield();
    }
  }
}

/// What would take much memory to hand over goes to the spool first, a sequence at a time, and its own memory back to
/// the kernel. What cannot stays where it is.
void lighten(Process &of) {
  constexpr size_t kShare = 16;  // of the memory that the recorder may take
  if (of.run.config.spool == nullptr) return;
  size_t making = of.spilling.making_bytes.load();
  for (RecordedThread *thread = of.threads.first.load(); thread != nullptr; thread = thread->next) {
    if (!thread->wants_epilogue) making += making_bytes(thread->sequence);
  }
  if (making <= of.run.config.memory / kShare) return;
  for (RecordedThread *thread = of.threads.first.load(); thread != nullptr; thread = thread->next) {
    const grammar::Builder *calls = thread->sequence.calls;
    const bool in_recorder = thread != current_thread && __atomic_load_n(&whole(*thread).busy, __ATOMIC_ACQUIRE);
    if (thread->wants_epilogue || calls == nullptr || calls->length() == 0 || in_recorder) continue;
    forget_memos(whole(*thread));
    if (!spill_at_end(of, *thread)) return;
  }
  give_back_arena(of);
}

/// True if what was recorded lies in a complete file now.
bool finish(Process &of, bool together, const char *status, uint64_t end_ns) {
  const Uncancelled guard;
  const RaisedLimits limits;
  of.enter(Phase::off);
  let_others_leave(of);
  of.names.addresses->tell_segments(nullptr);
  stop_spiller();
  find_place(of, Need::now);
  if (of.run.config.spool != nullptr) enter_spool(of.run.config.spool);  // somebody may have removed it
  lighten(of);
  const bool handed_over = (together && finish_together(of, own_comm, end_ns)) || finish_alone(of, status, end_ns);
  if (handed_over) remove_lost(of.run);
  return handed_over;
}

/// Whether MPI can be asked to communicate where the program does not. All ranks must come to the same: mostly they do
/// the same, and who changes its user tells the others while it may.
bool may_communicate(Process &of) {
  if (!mpi::takes_late || of.run.size == 1) return true;
  if (!of.progress.changed_user && !is_told_alone(of.run) && RaisedLimits::suffice()) return true;
  tell_alone(of.run);
  return false;
}

/// MPI_Finalize was reached, in which `frame` is, or nullptr if that is recorded: what was recorded is handed over,
/// with the other ranks or without. Until that is done it stays where a reader of the arena finds it.
void finish_main(Process &of, Thread *thread, Frame *frame, bool together) {
  // A rank that gave up has stopped recording, but the others wait for what it has.
  const bool recording = of.is_under_way();
  assert(!of.progress.finishing);
  of.progress.finishing = true;
  of.progress.complete = true;
  if (recording && frame != nullptr) {
    frame->result = static_cast<uint64_t>(int64_t{mpi::success});  // if it should fail, nobody is left to record it
    record(*thread, *frame, true, of.clock.ticks());
  }
  // What follows is Cairn's own, and waiting until all are here: none of it is the program's time.
  const uint64_t end_ns = of.clock.now();
  const RaisedLimits limits;
  together = together && may_communicate(of) && mpi::open_own_comm(&own_comm);
  of.progress.finished = finish(of, together, "complete", end_ns);
  if (together) mpi::close_own_comm(own_comm);
  if (recording && of.progress.finished) begin_epilogue(of);
}

/// Runs inside PMPI_Finalize, before it takes MPI down.
void on_finalize() {
  if (process == nullptr || process->progress.finishing) return;
  Thread *thread = current_thread;
  Frame *frame = thread == nullptr || thread->depth == 0 ? nullptr : &thread->frames[thread->depth - 1];
  if (frame != nullptr && frame->function != function_id::Finalize) frame = nullptr;
  finish_main(*process, thread, frame, !process->run.config.merge_after);
}

void after_init(Process &of) {
  if (of.progress.initialized || !mpi::initialized()) return;
  of.progress.initialized = true;
  of.calibrated.calibrate();
  of.clock = of.calibrated.clock();
  of.run.spawned = mpi::was_spawned();
  if (!of.run.spawned) of.run.spawned_by[0] = '\0';  // what starts a launcher hands on its own environment
  if (!mpi::multiple_threads() && !of.progress.has_session) of.names.handles->unshare();
  mpi::place_in_world(&of.run.rank, &of.run.size);
  if (!of.run.config.merge_after) {
    // On MPI_COMM_WORLD: what is sent here arrives within the receiver's MPI_Init, before what any program sends.
    const auto compare = [](void *argument) {
      Run &run = *static_cast<Run *>(argument);
      RootWord root{static_cast<uint64_t>(run.start_unix_ns), run.common.unix_offset_ns};
      if (!compare_clocks(run, mpi::world(), &root, &run.common.first)) return false;
      run.job = root.job;
      run.common.root_unix_offset_ns = root.unix_offset_ns;
      return true;
    };
    mpi::without_fatal_errors(compare, &of.run);
  }
  if (!mpi::at_finalize(on_finalize)) of.losses.note(Loss::unseen_end);
}

/// Whether any call came after MPI_Finalize.
bool has_epilogue(const Process &of) {
  for (const RecordedThread *thread = of.threads.first.load(); thread != nullptr; thread = thread->next) {
    if (!thread->wants_epilogue && thread->sequence.calls->length() != 0) return true;
  }
  return false;
}

/// The program ends without having reached MPI_Finalize. True if nothing is left to recover.
bool finish_early(Process &of) {
  const char *const status = status_of(of);
  // A program may finalize sessions only, or ask for MPI_Initialized and never initialise: then nothing is missing.
  of.progress.complete = !of.progress.initialized;
  Thread *own = current_thread;
  if (own != nullptr && own->depth > 0) record_unfinished(*own, own->frames[own->depth - 1]);
  return !of.has_calls() || finish(of, false, status, of.clock.now());
}

/// Nothing of the recording is left in memory or in the spool.
void forget_recording(Process &of) {
  for (RecordedThread *thread = of.threads.first.load(); thread != nullptr; thread = thread->next)
    thread->timing.reset();
  remove_arena_file(of);
  drop_segments(of);
  leave_spool(of.run.config);
}

/// The process ends, by exit or by returning from main.
__attribute__((destructor)) void at_exit() {
  Process *of = process;
  if (of == nullptr || of->run.pid != getpid()) return;
  const Phase phase = of->phase.load();
  const Uncancelled guard;
  of->progress.ending = Ending::exited;  // from now on whoever kills it takes nothing away
  const Progress &progress = of->progress;
  bool kept = progress.finished || progress.left_part;
  if (!kept && !progress.finishing) kept = finish_early(*of);
  of->names.addresses->tell_segments(nullptr);
  if (phase == Phase::epilogue && has_epilogue(*of)) kept = finish_epilogue(*of) && kept;
  of->enter(Phase::off);
  stop_spiller();
  // What could not be handed over stays for `cairn record`, or `cairn merge`, to recover.
  if (kept) forget_recording(*of);
  *of->run.preload->forget = nullptr;
  *of->run.preload->leaves = nullptr;
  *of->run.preload->changes_user = nullptr;
  process = nullptr;
}

/// The program becomes another user while MPI is up; or it does not after all. The others are told while it still may.
void changes_user(bool changes) {
  Process *of = process;
  if (of == nullptr || !of->progress.initialized || of->progress.finishing || of->run.config.merge_after) return;
  static bool first = false;  // of what may have changed anything
  if (changes) {
    first = !of->progress.changed_user;
    if (first) tell_alone(of->run);
  } else if (first) {
    take_back_alone(of->run);
  }
  if (first) of->progress.changed_user = changes;
}

/// The program calls _exit or the like; or it does not end after all.
void leaves(bool ends) {
  if (process != nullptr) process->progress.ending = ends ? Ending::left : Ending::none;
}

void before_landmark(Thread &thread, Frame &frame) {
  Process &of = *thread.process;
  const Switch asked = switch_of(frame);
  if (asked == Switch::on) turn_tracing(of, asked);
  const bool names = frame.function == function_id::Comm_set_name || frame.function == function_id::Info_set;
  if (asked != Switch::none || !names) frame.flags |= kFrameKept;
  switch (frame.function) {
    case function_id::Session_init:
      of.progress.has_session = true;
      of.names.handles->share();
      break;
    case function_id::Init:
    case function_id::Init_thread:
      of.progress.init_seen = true;
      of.run.begins(of.clock.at(frame.begin));
      break;
    case function_id::Abort:
      if (of.progress.finishing) break;
      if (of.is_under_way()) record_unfinished(thread, frame);
      finish(of, false, "aborted", of.clock.now());
      break;
    case function_id::Finalize:
      find_place(of, Need::if_mpi_knows);
      break;
    default:
      break;
  }
}

void after_landmark(Thread &thread, Frame &frame) {
  Process &of = *thread.process;
  if (frame.result != static_cast<uint64_t>(int64_t{mpi::success})) return;
  if (switch_of(frame) == Switch::off) turn_tracing(of, Switch::off);
  if (frame.function == function_id::Comm_set_name) note_name(of, frame);
  if (frame.function == function_id::Init || frame.function == function_id::Init_thread) after_init(of);
  // Our attribute was not set, or not called: then without the others.
  if (frame.function == function_id::Finalize && !of.progress.finishing) finish_main(of, nullptr, nullptr, false);
}

}  // namespace

void set_landmarks(const CairnPreload &preload) {
  *preload.leaves = leaves;
  if (mpi::takes_late) *preload.changes_user = changes_user;
  landmarks.before = before_landmark;
  landmarks.after = after_landmark;
  landmarks.after_unrecorded_init = after_init;
  for (const uint16_t function :
       {function_id::Init, function_id::Init_thread, function_id::Session_init, function_id::Finalize,
        function_id::Abort, function_id::Pcontrol, function_id::Info_set, function_id::Comm_set_name}) {
    landmarks.is[function] = true;
  }
}

}  // namespace cairn::recorder
