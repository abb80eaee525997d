// A thread's sequence of calls: begun, and longer by one event with each call; and what is expected to come next.
//
// By the thread itself. Everything here is for calls that took the long way: one that was recognised is counted in
// place (fast_path.cc), but for what it shares with these. Where memory ends the recording does (`lose_call`).
#pragma once

#include "mpi/call/thread.h"

namespace cairn::recorder {

/// Starts a new sequence for the thread; false without memory.
bool open_sequence(Thread &thread, uint32_t segment);
/// Appends the event of `frame`, which took until `end_ticks`.
void append(Thread &thread, Signature &signature, const Frame &frame, uint64_t end_ticks);
/// Keeps when the call was, as the timing mode wants it.
void add_time(Thread &thread, Signature &signature, const Frame &frame, uint64_t end_ticks, uint64_t duration);
/// What follows `last` (or anything): sets `thread.expected`.
void expect_next(Thread &thread, Memo *last);
/// A frame that expected a memo takes the long way from here on.
void forget_expected(Frame &frame);
/// Before the thread leaves its sequence: nothing refers to memos of that any more.
void forget_memos(Thread &thread);
/// Where this call stands among those of all threads; nothing while there is one thread.
void add_ticket(Thread &thread);
/// After a call that was recognised: whether the thread has to leave its sequence. One thread's calls that repeat
/// themselves take no memory, the order of several threads' calls may take some with each. Where this is so nothing may
/// be expected: then the next call takes the long way, which spills.
bool tickets_need_room(const Thread &thread);
/// The event could not be appended: pass everything through from here on.
void lose_call(Process &of);

}  // namespace cairn::recorder
