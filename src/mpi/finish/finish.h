// The end of a recording: merging all ranks' records into one file, or leaving this rank's in the spool.
#pragma once

#include "mpi/call/mpi_calls.h"
#include "mpi/store/process.h"

namespace cairn::recorder {

/// Communicates over `comm`, the recorder's own communicator; the root writes the file. Called on every rank, where MPI
/// still works. True, on all ranks, once the trace is there with what all of them have; else each has all that it had.
/// `end_ns`: when this process ended what is recorded; until the others do, it waits in here.
bool finish_together(Process &of, mpi::Handle comm, uint64_t end_ns);
/// Writes this process's record to the spool: `status` says why ("complete", "aborted", "exited without MPI_Finalize").
/// False if that could not be.
bool finish_alone(Process &of, const char *status, uint64_t end_ns);
/// The same of what came after MPI_Finalize.
bool finish_epilogue(Process &of);

}  // namespace cairn::recorder
