// Losses of a recording while it is under way: how often each thing happened that costs calls, their arguments, or
// time. All of them are kept, with their counts; harvest makes a text of them (trace/model/losses.h).
//
// Part of the Process at the front of the arena. Any thread notes; a reader of a dead process's arena reads.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "trace/model/losses.h"

namespace cairn::recorder {

enum class Loss : uint8_t {
  spilled,           ///< sequences that left memory
  spilled_in_calls,  ///< by the call itself, for want of a thread
  arguments,         ///< calls that stand without theirs
  calls,             ///< not kept; recording ended with the first
  threads,           ///< that could not be recorded
  order,             ///< calls of which it is not known when they came among those of other threads
  heap,              ///< begins and ends of heap segments that were not kept
  unseen_init,       ///< MPI_Init was not seen
  unseen_end,        ///< no attribute could be set for MPI_Finalize
  unseen_fortran,    ///< calls that a Fortran binding makes without the C function
  foreign_spool,     ///< the spool is not to be trusted
  paused,            ///< calls while tracing was off
  excluded,          ///< calls of functions, or on communicators, that are left out
  in_front,          ///< functions that others define in front of the recorder
  too_early,         ///< calls before the process had begun
  deep,              ///< calls made within callbacks within callbacks, deeper than Thread::kMaxDepth
  kCount
};

struct Losses {
  std::atomic<uint64_t> counts[static_cast<size_t>(Loss::kCount)];
  char other[160];  ///< the first that is none of these, or ""

  void note(Loss loss, uint64_t times = 1) {
    counts[static_cast<size_t>(loss)].fetch_add(times, std::memory_order_relaxed);
  }
  void note(const char *other_reason);
  void forget();
  [[nodiscard]] std::vector<trace::Loss> told() const;
};

/// As a user reads it.
const char *reason_of(Loss loss);

}  // namespace cairn::recorder
