// What happens around every MPI call, between the wrappers (frame.h) and the tables.
//
// enter: finds the thread and the call site, takes a frame. begin: keeps what the call may overwrite, reads the clock.
// end: reads the clock; if the grammar predicted a signature whose memo this call matches, that is the event; else the
// call is encoded and its row interned. Then the symbol is appended to the thread's grammar and the time added to the
// signature.
#pragma once

#include "mpi/process.h"

namespace cairn::recorder {

/// The calling thread's Thread; nullptr before its first recorded call.
extern thread_local Thread *current_thread __attribute__((tls_model("initial-exec")));

/// Makes or reuses a Thread for the calling thread; nullptr without memory.
Thread *join_thread(uintptr_t frame_address);

/// Encodes and appends the event of `frame`, in progress or finished. `returned`: the call came back.
void record(Thread &thread, Frame &frame, bool returned, uint64_t end_ns);

/// Starts a new sequence for the thread; false without memory.
bool open_sequence(Thread &thread, uint32_t segment);

// lifecycle.cc: calls that mean something to the recorder itself.
/// Before the real call of a function for which `is_landmark` holds.
void before_landmark(Thread &thread, Frame &frame);
/// After it, once it is recorded.
void after_landmark(Thread &thread, Frame &frame);
bool is_landmark(uint32_t function);

// memo.cc
/// The call is `signature` again: ends and creates objects accordingly and gives true. Else nothing has changed.
bool apply_memo(Thread &thread, Frame &frame, Signature &signature);
struct Outcome;
/// Remembers the raw arguments with which `signature` was just encoded.
void remember(Thread &thread, const Frame &frame, Signature &signature, const Outcome &outcome);
/// For a waiting call that may be memoised: the names of its requests, taken before `encode` ends them.
void note_names(Thread &thread, const Frame &frame);

}  // namespace cairn::recorder
