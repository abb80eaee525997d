// HeapLog: when the segments of the heap that MPI saw began and ended, among the calls of one thread.
//
// A segment begins with the call that names it first, and ends where the program frees it. Both are events, told by how
// many calls the thread made since the event before: a distinct event is a symbol, and the events are a grammar of
// their own, as the calls are. So a loop that allocates, sends and frees is a loop here as well, and costs nothing a
// turn; and the calls' rows know nothing of it. Calls that chance repeats (spec::varies_by_chance) are not counted: the
// others stand between the same events on all ranks, and in each turn.
//
// Sizes are exact while a sequence has few distinct events; then they are rounded up, by a sixteenth at most, so that
// sizes which never recur make no event each.
//
// Allocations on devices are told when they get a number, with their sizes; that they end nobody sees.
//
// Threads of the program begin and end in the same way, and are events of the same log. What a thread does before it is
// made, or after it was waited for, would not be what it did: so of these events it is also kept how many calls that
// are not counted came since the last one, which is mostly none.
//
// Part of a Sequence (sequence.h): in the arena, the thread alone writes, a reader of a dead process's arena reads.
// `add` never throws; an event costs what appending to a grammar costs.
#pragma once

#include <cstdint>

#include "base/arena.h"
#include "grammar/builder.h"
#include "mpi/store/signatures.h"
#include "trace/model/record.h"

namespace cairn::recorder {

struct HeapLog {
  static constexpr uint32_t kExact = 256;  ///< distinct events with exact sizes

  uint64_t calls;           ///< of the sequence so far that count
  uint64_t calls_then;      ///< when the last event came
  grammar::Builder *order;  ///< of the events; nullptr: there are none
  SignatureTable events;    ///< each the bytes of a trace::HeapEvent
  uint64_t passed_then;     ///< of all calls, those that had not counted when the last event of a thread came

  /// `bytes`: of a segment that begins; 0: it ends. False without memory: that event is not kept.
  bool add(Arena &arena, int64_t number, uint64_t bytes);
  /// An allocation on a device is named first, or is another one than before (trace::DeviceEvent). As `add`.
  bool add_device(Arena &arena, int64_t number, uint64_t bytes);
  /// A thread begins or ends (trace::ThreadEvent) after so many calls of the sequence, whether they count or not. False
  /// without memory.
  bool add_thread(Arena &arena, uint32_t thread, bool ends, uint64_t all_calls);

 private:
  bool append(Arena &arena, const trace::HeapEvent &event);
  [[nodiscard]] uint64_t as_kept(uint64_t bytes) const;
};

/// An event as a HeapLog keeps it.
trace::HeapEvent heap_event_of(const Signature &event);

}  // namespace cairn::recorder
