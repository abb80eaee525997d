// What a recording does in MPI_Init, MPI_Session_init, MPI_Finalize, MPI_Abort and at exit: begins, hands over what it
// has, goes on with what comes after MPI_Finalize, ends.
//
// The recorder communicates in MPI_Init and MPI_Finalize only, and on its own communicator. In MPI_Finalize this
// happens in the delete callback of an attribute on MPI_COMM_SELF, where MPI still works but the program can no longer
// call it.
#pragma once

#include "mpi/preload/preload.h"

namespace cairn::recorder {

/// Makes these calls landmarks (call/landmarks.h). Once, when the recorder is attached.
/// Also makes it known to the preload how the recorder hears of an end that runs no destructors.
void set_landmarks(const CairnPreload &preload);

}  // namespace cairn::recorder
