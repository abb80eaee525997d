// Threads of the program as they come and go: each has a Thread from its first MPI call on, and when it ends the next
// new one continues there, so that a program which makes threads again and again has as many sequences as it has at a
// time.
#pragma once

#include "mpi/call/thread.h"

namespace cairn::recorder {

/// Once, when the recorder is attached. False if the end of a thread cannot be noticed.
bool prepare_threads();

/// Makes or reuses a Thread for the calling thread; nullptr without memory, and from then on.
Thread *join_thread(uintptr_t frame_address);

}  // namespace cairn::recorder
