// What is recorded of a thread: its calls as a sequence, and that over again each time a sequence is left for the next.
//
// In the arena, so trivially destructible and without pointers to anywhere else: a reader of a dead process's arena
// goes through it as `harvest` does in the living one. The thread alone writes; `taken`, `next` and `wants_epilogue`
// are for others as well.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/growable.h"
#include "grammar/builder.h"
#include "mpi/names/sites.h"
#include "mpi/store/drained_arrays.h"
#include "mpi/store/frame.h"
#include "mpi/store/heap_log.h"
#include "mpi/store/signatures.h"
#include "mpi/store/timing_log.h"

namespace cairn::recorder {

/// Of the gaps before the calls at one site (timing/gap_stats.h), in nanoseconds.
struct GapCounters {
  uint64_t sum;
  uint64_t counts[timing::CallStats::kBuckets];
};

/// What one thread recorded in one segment of its life.
struct Sequence {
  grammar::Builder *calls;
  HeapLog heap;
  SignatureTable signatures;
  Growable<uint32_t> local_site;  ///< Site::id → number in this sequence + 1
  Growable<Site *> sites;         ///< by number in this sequence; [0] is the unknown site, nullptr
  grammar::Builder *order;        ///< nullptr while the process had one thread
  uint64_t unordered;             ///< calls before `order` began; their tickets follow each other
  uint64_t first_ticket;
  uint64_t last_ticket;
  uint64_t begin;  ///< of the first call, or the outermost that it is nested in, in ticks
  uint32_t segment;
  DrainedArrays drained;
  Growable<GapCounters *> gaps;  ///< as `sites`, where the mode keeps them; nullptr: none yet
};

/// About what it takes, beside the arena, to make a part of a sequence (harvest.h, trace/merge/part.h): rows as a
/// class has them, and the grammar's terms. Measured: docs/benchmarks.md, "Memory of calls that never repeat".
inline size_t making_bytes(const Sequence &sequence) {
  constexpr size_t kRow = 550;
  constexpr size_t kByte = 10;
  constexpr size_t kTerm = 60;
  const uint64_t terms = sequence.calls == nullptr ? 0 : sequence.calls->terms();
  return kRow * sequence.signatures.size() + kByte * sequence.signatures.bytes() + kTerm * terms;
}

/// The part of a Thread (call/thread.h) that is kept. Owned by one thread at a time; when it ends, the next new thread
/// continues its sequence.
struct RecordedThread {
  // What every call touches comes first, with the front of `sequence`.
  uint64_t last_end;  ///< when the last call ended, in ticks
  uint64_t mpi_ns;    ///< in outermost calls
  Sequence sequence;
  RecordedThread *next;
  uint32_t number;
  std::atomic<bool> taken;  ///< a living thread owns it
  bool wants_epilogue;      ///< its next call begins the segment after MPI_Finalize; what it holds was handed over
  uint64_t spilled_calls;   ///< in segments that are no longer in memory
  TimingLog timing;
  InFlight in_flight;
  uint64_t last_outer_end;  ///< when the last outermost call ended, in ticks, where the mode keeps gaps; 0: none has
};

}  // namespace cairn::recorder
