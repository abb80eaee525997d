// Tracing by choice: which of a program's calls are kept.
//
// A program turns tracing off and on (MPI_Pcontrol(0) and (1), or MPI_Info_set with the key CAIRN_TRACING and the value
// OFF or ON on any info object), the user starts it turned off (CAIRN_START=off) or leaves out functions and
// communicators by their names (CAIRN_EXCLUDE). The calls that switch, and those that begin and end MPI, are always
// kept. Of what is left out the recorder still follows what handles it makes and ends, so that the calls that are kept
// say what they would have said; it costs what a call costs that is encoded, or a look at a table where a function has
// no handles to follow.
//
// Source: Pilgrim 2.6.2, whose program says where tracing is on by MPI_Info_set.
#pragma once

#include "mpi/call/thread.h"

namespace cairn::recorder {

/// Takes CAIRN_START and CAIRN_EXCLUDE to heart, once, when the recorder is attached.
void prepare_tracing(Process &of);

enum class Switch : uint8_t { none, off, on };
/// What the call asks for.
Switch switch_of(const Frame &frame);
void turn_tracing(Process &of, Switch to);

/// Whether the call has its place in the sequence.
bool is_kept(const Thread &thread, const Frame &frame);
/// Follows what a call that is not kept did to handles, and counts it.
void leave_out(Thread &thread, Frame &frame, bool returned);

/// After MPI_Comm_set_name: whether calls on it are left out from now on.
void note_name(Process &of, const Frame &frame);

}  // namespace cairn::recorder
