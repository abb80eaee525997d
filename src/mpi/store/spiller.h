// The spiller: the recorder's own thread, which writes closed sequences to the spool (spill.h), and makes blocks of the
// times of calls (timing_log.h).
//
// Begun when memory gets short for the first time, or times fill half a buffer, ended before the recording is handed
// over; most programs never have one. It never calls MPI, takes no signal (the program's handlers must not run on a
// thread that it knows nothing of), has a small stack, and is scheduled as SCHED_BATCH: it does not preempt a thread
// that wakes, and is no real-time thread even if the program's are. But it has its share: with SCHED_IDLE, or nice, it
// takes for ever beside ranks that spin, and calls have to wait for it. Where the spool refuses a segment (a full disk)
// it asks again, after a second, then less and less often; until then nobody waits for it, and recording goes on in
// what memory is left. The heap that it uses is the program's malloc, as in all that ends a recording.
//
// A forked child has no such thread, and is not recorded.
#pragma once

#include "mpi/store/process.h"

namespace cairn::recorder {

/// There is a closed sequence: begins the thread if need be. False if there can be none: then nobody writes it.
bool wake_spiller(Process &of);
/// Some thread's times fill half of its buffer. False if there is no such thread: then nobody keeps them.
bool wake_recorder(Process &of);
/// Waits until the thread has ended. A sequence that it had begun to write is written, any other stays closed.
void stop_spiller();
/// In a forked child: there is no thread.
void forget_spiller();

}  // namespace cairn::recorder
