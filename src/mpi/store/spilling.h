// Spilling: the sequence that is on its way to the spool (spill.h), and how the last one went.
//
// Part of the Process at the front of the arena. A thread that leaves its sequence sets `closed`, the spiller clears it
// when the file is there; all else is written by these two and read by any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mpi/store/sequence.h"

namespace cairn::recorder {

/// A sequence that its thread has left for the next one.
struct ClosedSequence {
  static constexpr uint32_t kNotPlaced = UINT32_MAX;

  uint32_t thread;
  std::atomic<uint32_t> file;  ///< the number that its file gets: once so many are there, this one is
  uint64_t last_end;           ///< of its last call, in ticks
  Sequence sequence;
  TimingLog timing;
};

struct Spilling {
  std::atomic<uint32_t> spilled;         ///< segments written to the spool, numbered from 0
  std::atomic<ClosedSequence *> closed;  ///< one at a time. Its thread's own `sequence` may still be the same
  std::atomic<bool> spool_refuses;       ///< `closed` could not be written so far: nobody waits for it
  std::atomic<uint32_t> shortages_then;  ///< the arena's, when the last sequence was closed
  std::atomic<size_t> untouched_then;    ///< bytes of the arena never handed out when the last sequence was closed
  std::atomic<size_t> making_bytes;      ///< that writing `closed` takes beside the arena, about; 0 when it is done
  std::atomic<uint64_t> slowed_calls;    ///< that waited for `closed`
  timing::TimesCost times_cost;          ///< of what was spilled; the spiller's until the recording is handed over
};

}  // namespace cairn::recorder
