// The end of a recording: merging all ranks' records into one file, or leaving this rank's in the spool.
#pragma once

#include "mpi/call/mpi_calls.h"
#include "mpi/store/process.h"

namespace cairn::recorder {

/// Communicates over `comm`, the recorder's own communicator; the root writes the file. Called on every rank, where MPI
/// still works.
void finish_together(Process &of, mpi::Handle comm);
/// Writes this process's record to the spool: `status` says why ("complete", "aborted", "exited without MPI_Finalize").
void finish_alone(Process &of, const char *status);
/// Writes what came after MPI_Finalize to the spool, if anything did.
void finish_epilogue(Process &of);

}  // namespace cairn::recorder
