// The end of a recording: merging all ranks' records into one file, or leaving this rank's in the spool.
#pragma once

#include "mpi/store/process.h"

namespace cairn::recorder {

/// Communicates over the recorder's own communicator; the root writes the file. Called on every rank, where MPI still
/// works.
void finish_together(Process &of);
/// Writes this process's record to the spool: `status` says why ("complete", "aborted", "exited without MPI_Finalize").
void finish_alone(Process &of, const char *status);
/// Writes what came after MPI_Finalize to the spool, if anything did.
void finish_epilogue(Process &of);
/// Leaves a line for `cairn record` about why there is no trace.
void leave_reason(const Process &of, const char *reason);

}  // namespace cairn::recorder
