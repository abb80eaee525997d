#include "mpi/call/engine.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "mpi/call/call_names.h"
#include "mpi/call/encoder.h"
#include "mpi/call/fortran.h"
#include "mpi/store/spill.h"

namespace cairn::recorder {

Process *process = nullptr;
constinit thread_local Thread *current_thread __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

/// Calls that wrote their frame below this one have left it by exception or longjmp: stacks grow downwards.
void drop_stale(Thread &thread, uintptr_t stack) {
  while (thread.depth > 0 && thread.frames[thread.depth - 1].stack <= stack) {
    Frame &left = thread.frames[--thread.depth];
    if ((left.flags & kFrameRecorded) == 0) {
      ++thread.process->unreturned_calls;
      record(thread, left, false, thread.process->clock.ticks());
    }
    if ((left.flags & kFrameSaved) != 0) thread.before.resize(left.scratch);
  }
}

/// The current sequence is full: pass everything through from here on.
void give_up(Process &of, const char *reason) {
  degrade(of, reason);
  enter_phase(of, Phase::off);
}

/// Appends the event to the thread's sequence.
void append(Thread &thread, Signature &signature, const Frame &frame, uint64_t end_ticks) {
  Process &of = *thread.process;
  if (!thread.sequence.calls->append(signature.id)) return lose_call(of);
  if (thread.sequence.calls->length() == 1) {
    thread.sequence.begin_ns = of.clock.at(frame.begin);
    thread.last_end = frame.begin;
  }
  const uint64_t duration = of.clock.between(frame.begin, end_ticks);
  if (frame.depth == 0) thread.mpi_ns += duration;
  if (of.config.lossless) {
    thread.timing.add(of.clock.between(thread.last_end, frame.begin), duration);
  } else {
    signature.add_time(*of.arena, duration);
  }
  thread.last_end = end_ticks;
  add_ticket(thread);
  expect_next(thread, signature.memo);
}

}  // namespace

void expect_next(Thread &thread, Memo *last) {
  const grammar::Symbol predicted = thread.sequence.calls->predict();
  thread.expected = predicted == grammar::kNoSymbol ? nullptr : thread.sequence.signatures[predicted].memo;
  if (last == nullptr) return;
  last->next = thread.expected;
  last->next_id = predicted;
}

void forget_expected(Frame &frame) {
  if (frame.expected == nullptr) return;
  frame.return_address = frame.expected->return_address;
  frame.site = frame.expected->site;
  frame.expected = nullptr;
}

void add_ticket(Thread &thread) {
  Process &of = *thread.process;
  if (of.thread_count.load(std::memory_order_relaxed) < 2) return;
  Sequence &sequence = thread.sequence;
  const uint64_t ticket = of.tickets.fetch_add(1, std::memory_order_relaxed);
  if (sequence.order == nullptr) {
    sequence.unordered = sequence.calls->length() - 1;
    if (sequence.unordered == 0) sequence.first_ticket = ticket;
    sequence.last_ticket = sequence.unordered == 0 ? ticket - 1 : sequence.first_ticket + sequence.unordered - 1;
    sequence.order = of.arena->create<grammar::Builder>(*of.arena);
  }
  // While a second thread joins, the first may still be adding calls without a ticket.
  const uint64_t next = sequence.last_ticket + 1;
  const uint64_t skipped = ticket > next ? ticket - next : 0;
  sequence.last_ticket = ticket > next ? ticket : next;
  constexpr uint64_t kMost = UINT32_MAX - 1;
  if (sequence.order == nullptr || !sequence.order->append(static_cast<uint32_t>(skipped < kMost ? skipped : kMost))) {
    degrade(of, "no memory for the order of threads");
  }
}

void lose_call(Process &of) {
  ++of.lost_calls;
  give_up(of, "the memory limit was reached; raise it with --memory");
}

void degrade(Process &of, const char *reason) {
  if (of.degraded[0] == '\0') strncpy(of.degraded, reason, sizeof of.degraded - 1);
}

void record(Thread &thread, Frame &frame, bool returned, uint64_t end_ticks) {
  Process &of = *thread.process;
  forget_expected(frame);
  frame.flags |= kFrameRecorded;
  keep_room(of, thread, frame.begin);
  note_names(thread, frame);
  Outcome outcome;
  const bool whole = encode(thread, frame, returned, &outcome);
  if (!whole) {
    degrade(of, "no memory for the arguments of some calls, which stand without them; raise the limit with --memory");
    if (!encode_bare(thread, frame)) {
      return lose_call(of);
    }
  }
  Signature *signature =
      thread.sequence.signatures.intern(*of.arena, thread.row.data(), static_cast<uint32_t>(thread.row.size()));
  if (signature == nullptr) return lose_call(of);
  // A memo is only looked at for a call that the grammar predicts.
  const bool predicted = thread.sequence.calls->predict() == signature->id;
  if (returned && whole && predicted) remember(thread, frame, *signature, outcome);
  append(thread, *signature, frame, end_ticks);
}

namespace {

/// The thread opens its sequence of calls after MPI_Finalize; false without memory.
bool open_epilogue(Thread &thread) {
  thread.wants_epilogue = false;
  thread.spilled_calls = 0;
  thread.timing.reset();
  if (open_sequence(thread, trace::SequenceRecord::kEpilogue)) return true;
  enter_phase(*thread.process, Phase::off);
  return false;
}

}  // namespace

Frame *enter_slowly(uint32_t function, void *return_address, void *frame_address) {
  Process *of = process;
  if (of == nullptr) return nullptr;
  // Where other ranks wait for this one it takes part even if it gave up recording.
  if (of->phase.load(std::memory_order_relaxed) == Phase::off && (of->finished || !is_landmark(function)))
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
  if (site != nullptr && site->fortran_binding) [[unlikely]] {
    site = fortran_site(*thread, site, function, stack);
    known_by = 0;
  }
  if (thread->call_stacks != nullptr && site != nullptr && !site->internal) [[unlikely]] {
    site = thread->call_stacks->find(site, stack, thread->stack);
    known_by = 0;
  }
  thread->busy = false;
  errno = saved_errno;
  if (site == nullptr || site->internal || thread->depth == Thread::kMaxDepth) return nullptr;
  if (!of->call_sites) site = &of->function_site[function];
  Frame *frame = &thread->frames[thread->depth];
  frame->return_address = known_by;
  frame->expected = nullptr;
  frame->function = function;
  frame->depth = thread->depth++;
  frame->site = site;
  frame->stack = stack;
  const bool plain = of->clock.counts() && !function_facts[function].read_before && !is_landmark(function);
  frame->flags = plain ? kFramePlain : 0;
  return frame;
}

void begin_unexpected(Thread &thread, Frame &frame) {
  Process &of = *thread.process;
  const int saved_errno = errno;
  thread.busy = true;
  if (function_facts[frame.function].read_before && !save_before(thread, frame)) {
    degrade(of, "no memory for the arguments of some calls, which stand without them; raise the limit with --memory");
  }
  if (is_landmark(frame.function)) {
    frame.begin = of.clock.ticks();  // this very frame may be recorded
    before_landmark(thread, frame);
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
    if (memo != nullptr && apply_memo(thread, frame, *memo)) {
      append(thread, *memo->signature, frame, end_ticks);
    } else {
      record(thread, frame, true, end_ticks);
    }
  }
  if ((frame.flags & kFrameSaved) != 0) thread.before.resize(frame.scratch);
  if (is_landmark(frame.function)) after_landmark(thread, frame);
  if (thread.depth > 0) --thread.depth;
  thread.busy = false;
  errno = saved_errno;
}

}  // namespace cairn::recorder
