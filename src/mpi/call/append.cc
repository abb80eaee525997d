#include "mpi/call/append.h"

#include <cassert>
#include <utility>

#include "base/bytes.h"
#include "mpi/call/facts.h"
#include "mpi/store/spill.h"

namespace cairn::recorder {
namespace {

/// Of an outermost call. Without memory it is not counted.
void add_gap(Thread &thread, const Signature &signature, const Frame &frame, uint64_t end_ticks) {
  const uint64_t before = std::exchange(thread.last_outer_end, end_ticks);
  if (before == 0 || frame.begin < before) return;
  Process &of = *thread.process;
  ByteReader row({signature.bytes, signature.size});
  row.varint();  // function
  const uint64_t site = row.varint();
  Growable<GapCounters *> &gaps = thread.sequence.gaps;
  while (gaps.size() <= site) {
    if (!gaps.push(*of.arena, nullptr)) return;
  }
  GapCounters *&counters = gaps[site];
  if (counters == nullptr) counters = of.arena->allocate_array<GapCounters>(1);
  if (counters == nullptr) return;
  const uint64_t gap = of.clock.between(before, frame.begin);
  counters->sum += gap;
  ++counters->counts[timing::CallStats::bucket(gap)];
}

/// When the first call of a sequence began, or the outermost that it is nested in: that is still to be appended.
uint64_t begin_of_sequence(const Thread &thread, const Frame &first) {
  for (uint32_t i = 0; i < first.depth; ++i) {
    if ((thread.frames[i].flags & kFrameRecorded) == 0) return thread.frames[i].begin;
  }
  return first.begin;
}

}  // namespace

bool open_sequence(Thread &thread, uint32_t segment) {
  Arena &arena = *thread.process->arena;
  forget_expected(thread.frames[0]);  // a memo of the old sequence
  thread.expected = nullptr;
  thread.recalled.clear();
  thread.sequence = Sequence{};
  thread.sequence.segment = segment;
  thread.sequence.first_ticket = thread.spilled_calls;
  thread.sequence.calls = arena.create<grammar::Builder>(arena);
  return thread.sequence.calls != nullptr;
}

void forget_memos(Thread &thread) {
  thread.process->names.handles->settle();
  forget_expected(thread.frames[0]);
  thread.expected = nullptr;
  thread.recalled.clear();
}

void append(Thread &thread, Signature &signature, const Frame &frame, uint64_t end_ticks) {
  Process &of = *thread.process;
  assert(&thread.sequence.signatures[signature.id] == &signature);
  if (!thread.sequence.calls->append(signature.id)) return lose_call(of);
  if (function_facts[frame.function].placing) ++thread.sequence.heap.calls;
  if (thread.sequence.calls->length() == 1) {
    thread.sequence.begin = begin_of_sequence(thread, frame);
    thread.timing.begin_at(thread.sequence.begin);
    thread.last_end = thread.sequence.begin;
    of.run.begins(of.clock.at(thread.sequence.begin));
  }
  const uint64_t duration = of.clock.between(frame.begin, end_ticks);
  if (frame.depth == 0) thread.mpi_ns += duration;
  add_time(thread, signature, frame, end_ticks, duration);
  thread.last_end = end_ticks;
  add_ticket(thread);
  expect_next(thread, signature.memo);
}

void add_time(Thread &thread, Signature &signature, const Frame &frame, uint64_t end_ticks, uint64_t duration) {
  if (thread.timing.is_open()) {
    thread.timing.add(signature.bytes, frame.begin, end_ticks);
  } else if (thread.process->run.config.statistics) {
    signature.add_time(*thread.process->arena, duration);
    if (thread.process->run.config.gaps && frame.depth == 0) add_gap(thread, signature, frame, end_ticks);
  }
}

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
  const uint64_t ticket = of.threads.tickets.fetch_add(1, std::memory_order_relaxed);
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
    of.losses.note(Loss::order);
  }
}

bool tickets_need_room(const Thread &thread) {
  Process &of = *thread.process;
  return of.thread_count.load(std::memory_order_relaxed) > 1 && time_to_spill(of, thread);
}

void lose_call(Process &of) {
  of.losses.note(Loss::calls);
  of.enter(Phase::off);
}

}  // namespace cairn::recorder
