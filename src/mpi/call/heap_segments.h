// Heap segments that MPI sees, as they begin and end: told by the table of addresses (names/addresses.h), kept in the
// sequence of the thread that names or frees them (store/heap_log.h). So are the sizes of allocations on devices.
//
// A segment ends in `free`, in whatever thread that is: one that is recorded keeps the event itself, so that it stands
// between the right calls of that thread. What others free stands before the next call that any thread makes the long
// way, which the next one always is: with a segment an epoch ends.
#pragma once

#include <cstdint>

#include "mpi/call/thread.h"

namespace cairn::recorder {

/// An AddressSpace::ToldSegment. Any thread; with the table's lock held.
void note_heap_segment(trace::Atom kind, int64_t number, uint64_t bytes);
/// Before the thread's next call is kept.
void take_ended_segments(Thread &thread);

}  // namespace cairn::recorder
