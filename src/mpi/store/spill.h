// spill: when memory gets short, a thread leaves its sequence for a new one and the old one goes to the spool as a
// finished segment; nothing is lost.
//
// The thread only hands over, in some microseconds: the sequence's tables, all in the arena, become a ClosedSequence,
// of which there is one at a time. The spiller (spiller.h) harvests it, writes its file and gives the memory back. At
// any instant a reader of the arena finds each call once: a closed sequence counts until its file is counted, and a
// thread's own only if it is not the closed one.
//
// Recording goes on in what memory is left. Where that fills before the file is written calls are slowed, each by half
// a millisecond at most, and in the end held until there is room: the trace says how many and how long.
#pragma once

#include "mpi/store/process.h"

namespace cairn::recorder {

/// Before a call of `thread` that began at `begin_ticks` is encoded: leaves the sequence if it is time, waits if memory
/// is short and will be there.
void keep_room(Process &of, Thread &thread, uint64_t begin_ticks);

/// For an allocation that found no memory: waits until a closed sequence has given its own back. False if there is
/// none.
bool wait_for_memory();

/// Writes the closed sequence to the spool and gives its memory back. False if that cannot be: it stays, and the
/// recording's end finds it if a later try does not. By one thread at a time. Of the arena it uses what is in `closed`
/// alone; memory comes from the program's heap, some hundred bytes a row.
bool write_closed(Process &of);

}  // namespace cairn::recorder
