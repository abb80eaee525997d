// Thread: a thread that calls MPI, with its calls in flight, what it has recorded, and its scratch.
//
// In the arena, made at the thread's first call (threads.h) and used by one thread at a time, without locks. It is laid
// out by how often it is touched: every call reads the first line and the front of `sequence` behind it.
#pragma once

#include <cstdint>

#include "base/growable.h"
#include "mpi/call/frame.h"
#include "mpi/call/last_rows.h"
#include "mpi/names/addresses.h"
#include "mpi/names/call_stack.h"
#include "mpi/names/handles.h"
#include "mpi/names/memo.h"
#include "mpi/names/places.h"
#include "mpi/names/python_sites.h"
#include "mpi/names/sites.h"
#include "mpi/store/process.h"
#include "mpi/store/recalled_memos.h"

namespace cairn::recorder {

struct alignas(64) Thread : CallsInFlight, RecordedThread {
  static constexpr uint32_t kMaxDepth = kMostFrames;

  ThreadStack stack;
  SiteTable *site_table;
  PythonSites *python_sites;
  CallStacks *call_stacks;      ///< nullptr unless whole stacks are kept
  Growable<PlacePool *> pools;  ///< by Site::id
  RecalledMemos recalled;
  uint64_t recall_key;  ///< of the call in hand; 0: none
  bool repeats;         ///< some call was encoded that had been made before: others may be recalled
  LastRows last_rows;
  LastRow *encoded;       ///< that of the row in `row`; nullptr: nothing of it may be copied
  Growable<uint8_t> row;  ///< scratch of the encoder
  Growable<trace::Atom> atoms;
  Growable<char> text;
  Growable<HandleEntry *> found;    ///< by the encoder, of the requests that a call may complete
  Growable<trace::Atom> completed;  ///< by it, which of them a call completed
  uint64_t marks;                   ///< arrays of handles named so far
  Growable<RequestName> names;      ///< of the requests of a waiting call
  Growable<uint8_t> before;         ///< what `begin` saved, a stack
  Frame frames[kMaxDepth];
  Growable<uint8_t> statuses[kMaxDepth];  ///< by depth, for those that the program ignores

  /// Unlike any other thread's or call's.
  uint64_t new_mark() { return (uint64_t{number} + 1) << 40 | (++marks & 0xffffffffff); }
};

/// The Thread that a member of Process::threads is part of.
inline Thread &whole(RecordedThread &thread) { return static_cast<Thread &>(thread); }

/// The calling thread's Thread; nullptr before its first recorded call.
extern constinit thread_local Thread *current_thread __attribute__((tls_model("initial-exec")));

}  // namespace cairn::recorder
