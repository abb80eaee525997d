#include "mpi/store/spill.h"

#include <algorithm>
#include <cassert>
#include <ctime>

#include "base/uncancelled.h"
#include "mpi/store/segments.h"
#include "mpi/store/small_blocks.h"
#include "mpi/store/spiller.h"

namespace cairn::recorder {
namespace {

constexpr uint32_t kRowsBetween = 256;
constexpr uint64_t kInNeed = 512;     ///< calls that a sequence must have for spilling it to help
constexpr uint64_t kPause = 500'000;  ///< the longest of a call that is slowed, in ns

/// What is in use when a sequence for which writing takes `making` bytes is written.
size_t in_use(const Process &of, size_t making) { return of.arena->used() + making; }
/// What is left of the limit for that. The recorder's code and what lies between blocks of the heap take some, too.
size_t to_be_had(const Process &of) {
  const size_t limit = of.arena->limit();
  return limit - std::min(limit / 8, size_t{2} << 20);
}
/// From here on every sequence is left, however slowly memory fills; and calls are slowed while one is being written,
/// to be held at `full`.
size_t most_in_use(const Process &of) { return to_be_had(of) / 4 * 3; }
size_t full(const Process &of) { return to_be_had(of) / 8 * 7; }
/// The weight of a sequence that is left, as `making_bytes` says: with what it has in the arena, about half of all.
size_t heaviest(const Process &of) { return to_be_had(of) / 5 * 2; }
/// What is left of it counts once it is used up.
size_t last_untouched(const Process &of) { return of.arena->limit() / 8; }

/// What was given back does not serve, whose blocks have other sizes, and of the rest not much is left.
bool runs_dry(const Process &of) {
  const size_t untouched = of.arena->untouched();
  return of.arena->shortages() != of.spilling.shortages_then.load(std::memory_order_relaxed) ||
         (untouched < last_untouched(of) && untouched < of.spilling.untouched_then.load(std::memory_order_relaxed));
}

/// Whether a sequence weighs what it may at most, so that the next one finds as much memory while it is written. By
/// nothing but its calls, and asked at every so many rows: ranks that do the same leave their sequences at the same
/// call, and what they leave becomes one class.
bool weighs_enough(const Process &of, const Sequence &sequence) {
  const uint32_t rows = sequence.signatures.size();
  return rows % kRowsBetween == 0 && rows != 0 && making_bytes(sequence) >= heaviest(of);
}

/// Each segment costs bytes in the trace: a sequence is left when it is heavy, or when there is no choice.
bool is_time(const Process &of, const RecordedThread &thread) {
  if (!of.is_under_way()) return false;
  const Sequence &sequence = thread.sequence;
  if (weighs_enough(of, sequence)) return true;
  const bool short_of_memory = in_use(of, making_bytes(sequence)) > most_in_use(of) || runs_dry(of);
  return short_of_memory && sequence.calls->length() >= kInNeed;
}

void sleep_ns(uint64_t duration) {
  const timespec time = {0, static_cast<long>(duration)};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);  // a signal may cut it short
}

void note_wait(Process &of) { of.spilling.slowed_calls.fetch_add(1, std::memory_order_relaxed); }

/// The spiller is at work and will be done.
bool is_spilling(const Process &of) {
  return of.spilling.closed.load() != nullptr && !of.spilling.spool_refuses.load() && of.is_under_way();
}

/// What there has to be memory for while the spiller is at work: it needs as much for the sequence that comes next as
/// that has become by then.
size_t in_use_while_spilling(const Process &of, const RecordedThread &thread) {
  const size_t closed = of.spilling.making_bytes.load(std::memory_order_relaxed);
  return in_use(of, std::max(closed, making_bytes(thread.sequence)));
}

/// How short memory is while the spiller is at work: 0 not at all, 1 there is none.
double shortage(const Process &of, size_t in_use) {
  const double used = static_cast<double>(in_use) - static_cast<double>(most_in_use(of));
  const double of_all = used / static_cast<double>(full(of) - most_in_use(of));
  if (!runs_dry(of)) return of_all;
  return std::max(of_all, 1 - static_cast<double>(of.arena->untouched()) / static_cast<double>(last_untouched(of)));
}

/// While the spiller is at work: gives it time, the more the less memory is left.
void give_time(Process &of, const RecordedThread &thread) {
  // That the next sequence waits for this one should not be one call's burden.
  const double weight = static_cast<double>(making_bytes(thread.sequence)) / static_cast<double>(heaviest(of));
  const double now = std::min(std::max(shortage(of, in_use_while_spilling(of, thread)), 2 * weight - 1), 1.0);
  if (now <= 0 || !is_spilling(of)) return;
  const Uncancelled guard;
  sleep_ns(static_cast<uint64_t>(now * now * kPause));
  const auto is_full = [&] {
    return in_use_while_spilling(of, thread) > full(of) || weighs_enough(of, thread.sequence);
  };
  while (is_full() && is_spilling(of)) sleep_ns(kPause);
  note_wait(of);
}

/// The thread goes on in an empty sequence, the old one is `closed`. False, with nothing changed, without memory or if
/// another one is on its way.
bool close_sequence(Process &of, RecordedThread &thread) {
  assert(thread.sequence.calls != nullptr && !thread.wants_epilogue);
  Arena &arena = *of.arena;
  auto *closed = arena.create<ClosedSequence>();
  auto *calls = closed == nullptr ? nullptr : arena.create<grammar::Builder>(arena);
  Sequence &own = thread.sequence;
  TimingLog timing = {};
  if (calls == nullptr || !thread.timing.begin_next(arena, own.segment + 1, &timing)) {
    if (calls != nullptr) arena.release(calls, sizeof *calls);
    if (closed != nullptr) arena.release(closed, sizeof *closed);
    return false;
  }
  closed->thread = thread.number;
  closed->file.store(ClosedSequence::kNotPlaced);
  closed->last_end = thread.last_end;
  of.spilling.untouched_then.store(arena.untouched());
  of.spilling.shortages_then.store(arena.shortages());
  closed->sequence = own;
  closed->timing.take(thread.timing);
  ClosedSequence *none = nullptr;
  if (!of.spilling.closed.compare_exchange_strong(none, closed)) {
    timing.release(arena);
    thread.timing.let_go();
    arena.release(calls, sizeof *calls);
    arena.release(closed, sizeof *closed);
    return false;
  }
  of.spilling.making_bytes.store(making_bytes(own));
  // A reader takes the thread's own sequence for the closed one until the new grammar is in its place.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  Sequence next = {};
  next.calls = own.calls;
  next.segment = own.segment + 1;
  thread.spilled_calls += own.calls->length();
  next.first_ticket = thread.spilled_calls;
  own = next;
  thread.timing.take(timing);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  own.calls = calls;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return true;
}

}  // namespace

bool wait_for_memory() {
  Process *of = process;
  if (of == nullptr || !is_spilling(*of)) return false;
  const Uncancelled guard;
  while (is_spilling(*of)) sleep_ns(kPause);
  note_wait(*of);
  return of->spilling.closed.load() == nullptr;
}

bool time_to_spill(Process &of, const RecordedThread &thread) {
  if (of.spilling.closed.load(std::memory_order_relaxed) != nullptr) {
    give_time(of, thread);
    if (of.spilling.closed.load() != nullptr) return false;
  }
  return is_time(of, thread) && of.run.config.spool != nullptr;
}

void spill(Process &of, RecordedThread &thread) {
  const Uncancelled guard;
  if (!close_sequence(of, thread)) return;
  const bool handed_over = wake_spiller(of);
  of.losses.note(handed_over ? Loss::spilled : Loss::spilled_in_calls);
  if (handed_over) return;
  const SmallBlocks blocks;
  write_closed(of);
}

bool spill_at_end(Process &of, RecordedThread &thread) {
  const SmallBlocks blocks;
  const Uncancelled guard;
  if (of.spilling.closed.load() != nullptr && !write_closed(of)) return false;
  return close_sequence(of, thread) && write_closed(of);
}

}  // namespace cairn::recorder
