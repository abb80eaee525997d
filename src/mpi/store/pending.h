// Pending calls: what the threads of a process are in, or that they are in none, read from its arena by somebody else,
// who cannot ask MPI: of a process that was killed, or of one that lives; of a process that ends, by another thread.
//
// A thread's calls in flight become a segment of their own, behind all that it recorded: so its `begin_ns` says since
// when, on each rank and in each timing mode, and ranks that wait in the same call are one class whatever they did
// before. Their rows say that they did not return. A thread that is in no call gets a segment without calls, which
// begins where its last call ended.
//
// What a value means is looked up in the recorder's tables: constants, communicators, datatypes, requests. What lay in
// the process's own memory when the call began (arrays, strings) is not there; a field that cannot be told is the one
// atom kUnknown. Takes no lock and changes nothing. Costs a look at some tables a call.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/store/call_frames.h"
#include "mpi/store/process.h"
#include "trace/model/record.h"

namespace cairn::recorder {

/// What a thread has begun and not ended, the outermost call first. A call that is just beginning, or has just returned
/// and is being recorded, is left out: who waits is not in the recorder. MPI_Finalize, in which ranks wait until their
/// recordings are put together, is in the thread's sequence by then: it is only here `with_finalize`.
std::vector<const Frame *> calls_in_flight(const RecordedThread &thread, bool with_finalize);

/// Takes an MPI_Finalize that did not come to its end out of its thread's sequence in `record`. False if there is none.
bool reopen_finalize(const Process &of, trace::ProcessRecord *record);

/// Adds a segment for each living thread to `record`, which has the process's modules already. Nothing of what comes
/// after MPI_Finalize; that a thread is in no call only while calls are recorded. `end_ns`: now, or when the process
/// ended, on its clock.
void add_pending(const Process &of, uint64_t end_ns, bool with_finalize, trace::ProcessRecord *record,
                 CallFrames *frames);

}  // namespace cairn::recorder
