// The long way of a call, which fast_path.cc leaves to: whatever was not expected, or is unusual.
//
// enter: finds the thread and the call site, takes a frame. begin: keeps what the call may overwrite, reads the clock.
// end: reads the clock; if the grammar predicted a signature whose memo this call matches, that is the event; else the
// call is encoded and its row interned. Then the symbol is appended to the thread's grammar and the time added to the
// signature. By the thread that makes the call; errno is preserved.
#pragma once

#include "mpi/call/thread.h"

namespace cairn::recorder {

Frame *enter_slowly(uint32_t function, void *return_address, void *frame_address);
void begin_unexpected(Thread &thread, Frame &frame);
/// For a frame that nothing was expected of.
void end_slowly(Frame *frame);
/// `end`, from where it turns out that the call is another than expected.
void end_unexpected(Thread &thread, Frame &frame, uint64_t end_ticks);

/// Encodes and appends the event of `frame`, in progress or finished. `returned`: the call came back.
void record(Thread &thread, Frame &frame, bool returned, uint64_t end_ticks);
/// The same of the thread's calls that are still in flight, the outermost first, up to `last`: none will return.
void record_unfinished(Thread &thread, const Frame &last);

}  // namespace cairn::recorder
