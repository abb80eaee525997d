// Process and Thread: everything the recorder knows, laid out in the arena.
//
// One Process at the very front of the arena. The arena is a shared mapping of `<spool>/<host>.<pid>.arena` where there
// is a spool, at an address where a reader can map it again: a process killed by SIGKILL leaves it behind and `harvest`
// reads it like a living one. So everything here is trivially destructible, without vtables, and points only into the
// arena. Pointers to the preload's functions and to modules' code are kept too but never followed by a reader.
//
// A Thread is owned by one thread at a time; when it ends, the next new thread continues its sequence.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/arena.h"
#include "grammar/builder.h"
#include "mpi/call/frame.h"
#include "mpi/call/mpi_calls.h"
#include "mpi/names/addresses.h"
#include "mpi/names/call_stack.h"
#include "mpi/names/handles.h"
#include "mpi/names/places.h"
#include "mpi/names/sites.h"
#include "mpi/preload/preload.h"
#include "mpi/store/clock.h"
#include "mpi/store/config.h"
#include "mpi/store/drained_arrays.h"
#include "mpi/store/growable.h"
#include "mpi/store/signatures.h"
#include "mpi/store/timing_log.h"

namespace cairn::recorder {

struct Process;

/// Site::module of the pseudo-sites that stand for functions when call sites are off.
constexpr uint32_t kNoModule = UINT32_MAX;

/// What one thread recorded in one segment of its life.
struct Sequence {
  grammar::Builder *calls;
  SignatureTable signatures;
  Growable<uint32_t> local_site;  ///< Site::id → number in this sequence + 1
  Growable<Site *> sites;         ///< by number in this sequence; [0] is the unknown site, nullptr
  grammar::Builder *order;        ///< nullptr while the process had one thread
  uint64_t unordered;             ///< calls before `order` began; their tickets follow each other
  uint64_t first_ticket;
  uint64_t last_ticket;
  uint64_t begin_ns;  ///< of the first call
  uint32_t segment;
  DrainedArrays drained;
};

struct alignas(64) Thread {
  static constexpr uint32_t kMaxDepth = 64;

  // What every call touches lies together, with the front of `sequence`.
  Process *process;
  uint32_t depth;           ///< frames in flight
  std::atomic<bool> taken;  ///< a living thread owns it
  bool wants_epilogue;      ///< its next call begins the segment after MPI_Finalize
  bool busy;                ///< inside the recorder: a signal handler that calls MPI now is not recorded
  Memo *expected;           ///< of the signature that `sequence.calls` predicts; nullptr: it has none
  uint64_t last_end;        ///< when the last call ended, in ticks
  uint64_t mpi_ns;          ///< in outermost calls
  Sequence sequence;
  Thread *next;
  uint32_t number;
  uint64_t spilled_calls;  ///< in segments that are no longer in memory
  ThreadStack stack;
  SiteTable *site_table;
  CallStacks *call_stacks;  ///< nullptr unless whole stacks are kept
  TimingLog timing;
  Growable<PlacePool *> pools;  ///< by Site::id
  Growable<uint8_t> row;        ///< scratch of the encoder
  Growable<trace::Atom> atoms;
  Growable<char> text;
  Growable<HandleEntry *> found;    ///< by the encoder, of the requests that a call may complete
  Growable<trace::Atom> completed;  ///< by it, which of them a call completed
  uint64_t marks;                   ///< arrays of handles named so far
  Growable<RequestName> names;      ///< of the requests of a waiting call
  Growable<uint8_t> before;         ///< what `begin` saved, a stack
  Frame frames[kMaxDepth];

  /// Unlike any other thread's or call's.
  uint64_t new_mark() { return (uint64_t{number} + 1) << 40 | (++marks & 0xffffffffff); }
};

/// A sequence that its thread has left for the next one, on its way to the spool (spill.h).
struct ClosedSequence {
  static constexpr uint32_t kNotPlaced = UINT32_MAX;

  uint32_t thread;
  std::atomic<uint32_t> file;  ///< the number that its file gets: once so many are there, this one is
  uint64_t last_end;           ///< of its last call, in ticks
  size_t bytes;                ///< of the arena that were in use when it was closed
  Sequence sequence;
  TimingLog timing;
};

enum class Phase : uint32_t {
  off,  ///< pass everything through
  recording,
  epilogue,  ///< after MPI_Finalize
};

struct Process {
  static constexpr uint64_t kMagic = 0x314152454e524943;  // "CINRERA1"

  // What every call reads lies together.
  std::atomic<Phase> phase;
  std::atomic<uint32_t> thread_count;
  const volatile uint32_t *preload_epoch;  ///< the preload's, see preload.h
  HandleTable *handles;
  Clock clock;
  Arena *arena;
  uint64_t magic;
  uint64_t layout;  ///< sizes of the structures: a reader of another build refuses
  Process *self;    ///< the address it is valid at
  Config config;
  const CairnPreload *preload;
  Modules *modules;
  AddressSpace *addresses;
  std::atomic<Thread *> threads;
  std::atomic<uint64_t> tickets;  ///< counts calls of all threads once there are two
  std::atomic_flag threads_lock;
  PlacePool comm_numbers;
  bool call_sites;
  Site *function_site;  ///< without call sites: one pseudo-site a function, by id
  int32_t rank;
  int32_t size;
  int32_t pid;
  mpi::Handle own_comm;
  bool have_own_comm;
  bool has_session;  ///< MPI_Session_init was called: threads may call MPI at will
  bool initialized;
  bool finished;   ///< what was recorded up to MPI_Finalize (or the end) has been handed over
  bool complete;   ///< MPI_Finalize was reached
  bool left_part;  ///< wrote its part to the spool
  int64_t start_unix_ns;
  uint64_t init_ns;                        ///< when MPI_Init began
  std::atomic<uint32_t> spilled;           ///< segments written to the spool, numbered from 0
  std::atomic<ClosedSequence *> closed;    ///< one at a time. Its thread's own `sequence` may still be the same
  std::atomic<bool> spool_refuses;         ///< `closed` could not be written so far: nobody waits for it
  std::atomic<size_t> unspillable;         ///< bytes of the arena that stayed in use when the last sequence was gone
  std::atomic<uint32_t> shortages_then;    ///< the arena's, when the last sequence was closed
  std::atomic<size_t> untouched_then;      ///< bytes of the arena never handed out when the last sequence was closed
  std::atomic<uint64_t> spill_ns_per_kib;  ///< what writing the last one took
  std::atomic<uint64_t> slowed_calls;      ///< that waited for `closed`
  std::atomic<uint64_t> longest_wait_ns;   ///< of them
  uint64_t lost_calls;                     ///< not kept, for want of memory
  uint64_t unreturned_calls;
  char host[256];
  char mpi_version[256];
  char recorder[128];  ///< "cairn 0.1.0 libmpich.so.12"
  char degraded[160];
  char command[4096];
};

/// The recorder's one Process; nullptr while it is off.
extern Process *process;

/// Notes the first reason for which not all is kept.
void degrade(Process &of, const char *reason);

}  // namespace cairn::recorder
