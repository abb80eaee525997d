// Process: all that the recorder keeps of its process, at the very front of the arena, in parts that each have an
// owner.
//
// The arena is a shared mapping of `<spool>/<host>.<pid>.arena` where there is a spool, at an address where a reader
// can map it again: a process killed by SIGKILL leaves it behind and `harvest` reads it like a living one. So
// everything here is trivially destructible, without vtables, and points only into the arena. Pointers to the preload's
// functions and to modules' code are kept too but never followed by a reader.
//
// | part       | what                                          | written by                          |
// |------------|-----------------------------------------------|-------------------------------------|
// | `names`    | how raw values are called (names/names.h)     | each table by its own rules         |
// | `run`      | configuration, identity (run.h)               | finish, before others read          |
// | `threads`  | those that ever called MPI (sequence.h)       | a thread that joins                 |
// | `ended`    | heap segments (heap_log.h)                    | any thread, under its lock          |
// | `spilling` | what is on its way to the spool (spilling.h)  | a thread that spills, the spiller   |
// | `progress` | how far the recording has come                | finish                              |
// | `losses`   | what could not be kept (losses.h)             | any thread, by `note`               |
#pragma once

#include <atomic>
#include <cstdint>

#include "base/arena.h"
#include "mpi/names/names.h"
#include "mpi/names/spin_lock.h"
#include "mpi/store/clock.h"
#include "mpi/store/losses.h"
#include "mpi/store/run.h"
#include "mpi/store/sequence.h"
#include "mpi/store/spilling.h"

namespace cairn::recorder {

enum class Phase : uint32_t {
  off,  ///< pass everything through
  recording,
  paused,    ///< the program, or the user, turned tracing off: handles are followed, calls not kept
  epilogue,  ///< after MPI_Finalize
};

struct Threads {
  std::atomic<RecordedThread *> first;
  std::atomic<uint64_t> tickets;  ///< counts calls of all threads once there are two
  SpinLock lock;                  ///< held by a thread that joins
};

/// Heap segments that were freed by threads of which nothing is recorded, until a thread makes a call.
struct EndedSegments {
  SpinLock lock;
  std::atomic<size_t> count;  ///< of `numbers`: read without the lock
  Growable<int64_t> numbers;
};

/// How the process came to its end, as far as it could say.
enum class Ending : uint8_t {
  none,    ///< not at all: it lives, or was killed
  exited,  ///< by exit, or at the end of main
  left,    ///< by _exit, quick_exit or exec, which nobody hands over a recording in
};

struct Progress {
  bool attached;     ///< the tables are there: before, a killed process has left nothing
  bool has_session;  ///< MPI_Session_init was called: threads may call MPI at will
  bool init_seen;    ///< the program called MPI_Init, as far as it got
  bool initialized;
  bool finishing;  ///< MPI_Finalize was reached: handing over what was recorded until then has begun
  bool finished;   ///< it lies in a complete file; what the arena holds came after
  bool complete;   ///< MPI_Finalize was reached
  bool left_part;  ///< wrote its part to the spool
  Ending ending;
  bool changed_user;  ///< since MPI_Init
};

struct Process {
  static constexpr uint64_t kMagic = 0x314152454e524943;  // "CINRERA1"

  // What every call reads lies together: this and the front of `names` are one cache line.
  std::atomic<Phase> phase;
  std::atomic<uint32_t> thread_count;
  Clock clock;
  Arena *arena;
  Names names;

  Threads threads;
  EndedSegments ended;
  CalibratedClock calibrated;  ///< which `clock` is
  Run run;
  Spilling spilling;
  Progress progress;
  Losses losses;

  uint64_t magic;
  uint64_t layout;  ///< sizes of the structures: a reader of another build refuses
  Process *self;    ///< the address it is valid at

  /// MPI_Finalize has not come yet, and recording has not ended early.
  [[nodiscard]] bool is_under_way() const {
    const Phase now = phase.load(std::memory_order_relaxed);
    return now == Phase::recording || now == Phase::paused;
  }
  /// Whether any call has ended that is kept, in memory or in the spool.
  [[nodiscard]] bool has_calls() const;
  /// With every phase an epoch ends: a call that a memo recognises asks for the epoch only.
  void enter(Phase next);
};

/// Of a process that ends by itself, as trace::RunInfo has it: what it had come to.
const char *status_of(const Process &of);

/// The recorder's one Process; nullptr while it is off.
extern Process *process;

}  // namespace cairn::recorder
