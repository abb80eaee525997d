#include "mpi/store/spill.h"

#include <algorithm>
#include <cassert>
#include <ctime>

#include "mpi/store/segments.h"
#include "mpi/store/small_blocks.h"
#include "mpi/store/spiller.h"
#include "mpi/store/uncancelled.h"

namespace cairn::recorder {
namespace {

constexpr uint64_t kWorthwhile = 4096;       ///< calls that a sequence must have for spilling it to help
constexpr uint64_t kInNeed = 512;            ///< the same where there is no choice
constexpr uint64_t kFirstNsPerKib = 60'000;  ///< until a sequence was written; 20,000 on an idle machine
constexpr uint64_t kPause = 500'000;         ///< the longest of a call that is slowed, in ns

double pause_ns(const Config &config) { return static_cast<double>(config.spill_pause_ms) * 1e6; }

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
/// What is left of it counts once it is used up.
size_t last_untouched(const Process &of) { return of.arena->limit() / 8; }

/// What was given back does not serve, whose blocks have other sizes, and of the rest not much is left.
bool runs_dry(const Process &of) {
  const size_t untouched = of.arena->untouched();
  return of.arena->shortages() != of.spilling.shortages_then.load(std::memory_order_relaxed) ||
         (untouched < last_untouched(of) && untouched < of.spilling.untouched_then.load(std::memory_order_relaxed));
}

/// As late as possible, since every segment costs bytes in the trace; but so early that the rest of the memory is
/// likely to last until this sequence is written, even if that goes half as fast as the last time. Half of what
/// sequences may have is always used.
bool is_time(const Process &of, const RecordedThread &thread, uint64_t begin_ticks) {
  const size_t used = in_use(of, making_bytes(thread.sequence));
  const size_t most = most_in_use(of);
  const size_t others = of.spilling.unspillable.load(std::memory_order_relaxed);
  const size_t half = others + (of.arena->limit() - std::min(others, of.arena->limit())) / 2;
  const bool dry = runs_dry(of);
  if (used <= std::min(half, most) && !dry) return false;
  if (!of.is_under_way()) return false;
  if (used > most || dry) return thread.sequence.calls->length() >= kInNeed;
  if (thread.sequence.calls->length() < kWorthwhile) return false;
  const auto filled_in =
      static_cast<double>(std::max<uint64_t>(of.clock.between(thread.sequence.begin, begin_ticks), 1));
  const uint64_t last = of.spilling.ns_per_kib.load(std::memory_order_relaxed);
  const auto bytes = static_cast<double>(of.arena->used() - std::min(others, of.arena->used()));
  const double written_in =
      2 * (bytes / 1024 * static_cast<double>(last != 0 ? last : kFirstNsPerKib) + pause_ns(of.run.config));
  return static_cast<double>(used) + bytes * written_in / filled_in > static_cast<double>(most);
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
  const double now = std::min(shortage(of, in_use_while_spilling(of, thread)), 1.0);
  if (now <= 0 || !is_spilling(of)) return;
  const Uncancelled guard;
  sleep_ns(static_cast<uint64_t>(now * now * kPause));
  while (in_use_while_spilling(of, thread) > full(of) && is_spilling(of)) sleep_ns(kPause);
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
  closed->bytes = arena.used();
  of.spilling.untouched_then.store(arena.untouched());
  of.spilling.shortages_then.store(arena.shortages());
  of.spilling.making_bytes.store(making_bytes(own));
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

bool time_to_spill(Process &of, const RecordedThread &thread, uint64_t begin_ticks) {
  if (of.spilling.closed.load(std::memory_order_relaxed) != nullptr) {
    give_time(of, thread);
    return false;
  }
  return is_time(of, thread, begin_ticks) && of.run.config.spool != nullptr;
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
