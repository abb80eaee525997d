// Threads of the program as they come and go: each has a Thread from its first MPI call on. Its number is that which
// the preload gives to threads when they are made (preload/threads.cc), and those that have a number one after the
// other continue one sequence: so a program which makes threads again and again has as many sequences as it has threads
// at a time, and each goes on with what the last thread of that number did, in whatever order threads run.
//
// The sequences tell where threads began and ended (store/heap_log.h). Whoever makes one keeps that, and that it has
// waited for its end, if it is recorded itself. The thread's own sequence tells where it begins, if that is so, and
// where it ends. Those that were made and never called MPI begin and end there at once, before the next that calls.
#pragma once

#include "mpi/call/thread.h"

namespace cairn::recorder {

/// Once, when the recorder is attached.
void prepare_threads(const CairnPreload &preload);

/// Makes or reuses a Thread for the calling thread; nullptr without memory, and from then on.
Thread *join_thread(uintptr_t frame_address);

}  // namespace cairn::recorder
