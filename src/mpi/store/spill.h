// spill: when memory gets short, a thread leaves its sequence for a new one and the old one goes to the spool as a
// finished segment; nothing is lost.
//
// The thread only hands over, in some microseconds: the sequence's tables, all in the arena, become a ClosedSequence,
// of which there is one at a time. The spiller (spiller.h) harvests it, writes its file and gives the memory back. At
// any instant a reader of the arena finds each call once: a closed sequence counts until its file is counted, and a
// thread's own only if it is not the closed one.
//
// *Other ways considered:* to write it within the call that finds memory short. That takes a second at the default
// limit, and is done only where no thread can be started. Several closed sequences at a time would need the memory that
// is not there.
//
// *What `--memory` is of:* the arena, and beside it what it takes to make a part of the sequence that leaves (several
// times the bytes that it has in the arena, for a while). So a sequence is left when both together get short.
//
// Recording goes on in what memory is left. Where that fills before the file is written calls are slowed, each by half
// a millisecond at most, and in the end held until there is room: the trace says how many.
#pragma once

#include "mpi/store/process.h"

namespace cairn::recorder {

/// Before a call of `thread` is encoded, or after one of several threads' was recognised:
/// whether the thread has to leave its sequence. Waits if memory is short and will be there.
bool time_to_spill(Process &of, const RecordedThread &thread);

/// Leaves the sequence, if there is memory for the next. Nothing may refer to its memos.
void spill(Process &of, RecordedThread &thread);

/// When the recording is over and `thread`, of which nobody is in the recorder, will record no more: its sequence goes
/// to the spool, within this call. False, and it stays, if that cannot be.
bool spill_at_end(Process &of, RecordedThread &thread);

/// For an allocation that found no memory: waits until a closed sequence has given its own back. False if there is
/// none.
bool wait_for_memory();

}  // namespace cairn::recorder
