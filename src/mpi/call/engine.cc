#include "mpi/call/engine.h"

#include <cassert>
#include <cerrno>

#include "mpi/call/append.h"
#include "mpi/call/call_names.h"
#include "mpi/call/encoder.h"
#include "mpi/call/fortran_sites.h"
#include "mpi/call/heap_segments.h"
#include "mpi/call/landmarks.h"
#include "mpi/call/place.h"
#include "mpi/call/recall.h"
#include "mpi/call/recognise.h"
#include "mpi/call/remember.h"
#include "mpi/call/threads.h"
#include "mpi/call/tracing.h"
#include "mpi/store/spill.h"

namespace cairn::recorder {

void *real_function[spec::function_id::kCount];
bool oracle_between = false;
void *pmpi_function[spec::function_id::kCount];
Landmarks landmarks;
std::atomic<bool> wild_requests{false};

namespace {

/// Calls that wrote their frame below this one have left it by exception or longjmp: stacks grow downwards.
void drop_stale(Thread &thread, uintptr_t stack) {
  while (thread.depth > 0 && thread.frames[thread.depth - 1].stack <= stack) {
    Frame &left = thread.frames[--thread.depth];
    if ((left.flags & kFrameRecorded) == 0) record(thread, left, false, thread.process->clock.ticks());
    if ((left.flags & kFrameSaved) != 0) thread.before.resize(left.scratch);
  }
}

/// The thread opens its sequence of calls after MPI_Finalize; false without memory.
bool open_epilogue(Thread &thread) {
  thread.wants_epilogue = false;
  thread.spilled_calls = 0;
  thread.timing.reset();
  if (open_sequence(thread, trace::SequenceRecord::kEpilogue)) return true;
  thread.process->enter(Phase::off);
  return false;
}

}  // namespace

void *own_statuses(const Frame &frame) {
  constexpr int64_t kMost = int64_t{1} << 24;
  Thread &thread = *current_thread;
  const int8_t counted = function_facts[frame.function].request_count;
  const int64_t count = counted < 0 ? 1 : static_cast<int64_t>(frame.argument[counted]);
  if (count > kMost) return nullptr;
  Growable<uint8_t> &room = thread.statuses[frame.depth];
  const bool fits = room.reserve(*thread.process->arena, static_cast<size_t>(count < 1 ? 1 : count) * mpi::status_size);
  return fits ? room.data() : nullptr;
}

namespace {

void leave_sequence_in_time(Thread &thread) {
  Process &of = *thread.process;
  if (!time_to_spill(of, thread)) return;
  forget_memos(thread);
  find_place(of, Need::now);  // it stands in the file
  spill(of, thread);
}

/// A call that was not foreseen, but was made before.
bool record_again(Thread &thread, Frame &frame, uint64_t end_ticks) {
  thread.recall_key = 0;
  if (!thread.repeats || !is_kept(thread, frame)) return false;
  const Memo *memo = recall(thread, frame);
  if (memo != nullptr) append(thread, *memo->signature, frame, end_ticks);
  return memo != nullptr;
}

void record_anew(Thread &thread, Frame &frame, bool returned, uint64_t end_ticks) {
  Process &of = *thread.process;
  if (frame.function == spec::function_id::Cancel) wild_requests.store(true, std::memory_order_relaxed);
  frame.flags |= kFrameRecorded;
  const uint64_t key = thread.recall_key;
  take_ended_segments(thread);
  if (key == 0) note_names(thread, frame);
  if (!is_kept(thread, frame)) return leave_out(thread, frame, returned);
  Outcome outcome;
  const bool whole = encode(thread, frame, returned, &outcome) && (frame.flags & kFrameBare) == 0;
  if (!whole) {
    of.losses.note(Loss::arguments);
    if (!encode_bare(thread, frame)) {
      return lose_call(of);
    }
  }
  SignatureTable &signatures = thread.sequence.signatures;
  const uint32_t known = signatures.size();
  Signature *signature = signatures.intern(*of.arena, thread.row.data(), static_cast<uint32_t>(thread.row.size()));
  if (signature == nullptr) return lose_call(of);
  if (thread.encoded != nullptr && whole) {
    thread.encoded->bytes = signature->bytes;
    thread.encoded->site = frame.site;
  }
  thread.repeats = thread.repeats || signature->id < known;
  // A memo is only looked at for a call that the grammar predicts, or that came before.
  const bool predicted = thread.sequence.calls->predict() == signature->id;
  const bool recalled = key != 0 && signature->id < known && outcome.implied_status &&
                        (signature->memo != nullptr || !thread.recalled.is_full(*of.arena));
  if (returned && whole && (predicted || recalled)) remember(thread, frame, *signature, outcome);
  if (recalled && signature->memo != nullptr && signature->memo->kind != MemoKind::none) {
    thread.recalled.keep(*of.arena, key, signature->memo);
  }
  append(thread, *signature, frame, end_ticks);
}

}  // namespace

void record(Thread &thread, Frame &frame, bool returned, uint64_t end_ticks) {
  forget_expected(frame);
  leave_sequence_in_time(thread);
  thread.recall_key = 0;
  record_anew(thread, frame, returned, end_ticks);
}

void record_unfinished(Thread &thread, const Frame &last) {
  for (uint32_t i = 0; i < thread.depth; ++i) {
    Frame &frame = thread.frames[i];
    if ((frame.flags & kFrameRecorded) == 0) record(thread, frame, false, thread.process->clock.ticks());
    if (&frame == &last) break;
  }
}

void unrecorded_init(int result) {
  if (process != nullptr && result == mpi::success) landmarks.after_unrecorded_init(*process);
}

Frame *enter_slowly(uint32_t function, void *return_address, void *frame_address) {
  Process *of = process;
  if (of == nullptr) return nullptr;
  // Where other ranks wait for this one it takes part even if it gave up recording.
  if (of->phase.load(std::memory_order_relaxed) == Phase::off && (of->progress.finishing || !is_landmark(function)))
    return nullptr;
  const int saved_errno = errno;
  const auto stack = reinterpret_cast<uintptr_t>(frame_address);
  Thread *thread = current_thread;
  if (thread == nullptr) {
    thread = join_thread(stack);
    errno = saved_errno;
    if (thread == nullptr) return nullptr;
  }
  if (thread->busy) return nullptr;
  thread->busy = true;
  if (thread->wants_epilogue && !open_epilogue(*thread)) {
    thread->busy = false;
    return nullptr;
  }
  if (thread->depth > 0 && thread->frames[thread->depth - 1].stack <= stack) drop_stale(*thread, stack);
  Site *site = thread->site_table->find(reinterpret_cast<uintptr_t>(return_address));
  // What depends on more than the return address must clear it: `enter` knows a call by that alone.
  uintptr_t known_by = reinterpret_cast<uintptr_t>(return_address);
  if (site != nullptr && site->binding != Binding::none) [[unlikely]] {
    if (site->binding == Binding::fortran) {
      site = fortran_site(*thread, site, function, stack);
      known_by = 0;
    } else if (of->run.config.call_sites) {
      Site *line = thread->python_sites->find(site);
      if (thread->python_sites->knows_python()) known_by = line == site ? 0 : known_by | kByLine;
      site = line;
    }
  }
  if (thread->call_stacks != nullptr && site != nullptr && !site->internal) [[unlikely]] {
    site = thread->call_stacks->find(site, stack, thread->stack);
    known_by = 0;
  }
  thread->busy = false;
  errno = saved_errno;
  if (site == nullptr || site->internal) return nullptr;
  if (thread->depth == Thread::kMaxDepth) {
    of->losses.note(Loss::deep);
    return nullptr;
  }
  if (!of->run.config.call_sites) site = &of->names.function_sites[function];
  assert(thread->depth < Thread::kMaxDepth && function < spec::function_id::kCount);
  Frame *frame = &thread->frames[thread->depth];
  frame->return_address = known_by;
  frame->expected = nullptr;
  frame->function = function;
  frame->depth = thread->depth++;
  frame->site = site;
  frame->stack = stack;
  const FunctionFacts &facts = function_facts[function];
  const bool plain = of->clock.counts() && !facts.read_before && !facts.releases && !is_landmark(function);
  frame->flags = plain ? kFramePlain : 0;
  return frame;
}

void begin_unexpected(Thread &thread, Frame &frame) {
  Process &of = *thread.process;
  const int saved_errno = errno;
  thread.busy = true;
  if (function_facts[frame.function].read_before && !save_before(thread, frame)) {
    frame.flags |= kFrameBare;
  }
  if (function_facts[frame.function].releases && of.names.handles->shared()) {
    CallNames(thread).claim(spec::functions()[frame.function], frame);
  }
  if (is_landmark(frame.function)) {
    frame.begin = of.clock.ticks();  // this very frame may be recorded
    landmarks.before(thread, frame);
  }
  thread.busy = false;
  errno = saved_errno;
  frame.begin = of.clock.ticks();
}

void end_slowly(Frame *frame) {
  if (current_thread == nullptr) return;
  end_unexpected(*current_thread, *frame, current_thread->process->clock.ticks());
}

void end_unexpected(Thread &thread, Frame &frame, uint64_t end_ticks) {
  Process &of = *thread.process;
  const int saved_errno = errno;
  thread.busy = true;
  forget_expected(frame);
  // Frames above this one were left by longjmp into the code that MPI called back.
  while (thread.depth > 0 && &thread.frames[thread.depth - 1] != &frame)
    drop_stale(thread, thread.frames[thread.depth - 1].stack);
  if ((frame.flags & kFrameRecorded) == 0 && of.phase.load(std::memory_order_relaxed) != Phase::off) {
    Memo *memo = thread.expected;
    if (memo != nullptr && recognise_late(thread, frame, *memo)) {
      append(thread, *memo->signature, frame, end_ticks);
      if (tickets_need_room(thread)) thread.expected = nullptr;
    } else {
      leave_sequence_in_time(thread);
      if (!record_again(thread, frame, end_ticks)) record_anew(thread, frame, true, end_ticks);
    }
  }
  assert((frame.flags & kFrameSaved) == 0 || frame.scratch <= thread.before.size());
  if ((frame.flags & kFrameSaved) != 0) thread.before.resize(frame.scratch);
  if (is_landmark(frame.function)) landmarks.after(thread, frame);
  if (thread.depth > 0) --thread.depth;
  thread.busy = false;
  errno = saved_errno;
}

}  // namespace cairn::recorder
