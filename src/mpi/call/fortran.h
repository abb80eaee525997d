// Calls that arrive through a Fortran binding.
//
// MPICH's binding implements `mpi_send_` by calling MPI_Send, so that the call's return address lies in the binding.
// The preload notes where the program entered it (CairnFortranEntry); the first C call of the same function then
// belongs to that entry and takes its site from there. Bindings that call PMPI_ instead, as Open MPI's does, never get
// here.
//
// Nobody tells when an entry returns. A note counts only if its stack address lies close above the C call's (a
// binding's frames are small) and if no C call has answered it yet. So what callbacks or longjmp leave behind is never
// taken for the entry in progress: each call of a callback is an entry of its own with its own note, and an entry that
// was left has been answered.
//
// Attributes: MPICH's binding calls MPII_Comm_get_attr and the like, with values as Fortran sees them: integers. They
// are wrapped here (fortran.cc) and recorded as MPI_Comm_get_attr, MPI_Attr_get, ….
//
// Threads: any; notes are per thread. Cost: some nanoseconds, for calls out of a binding alone. No errors.
#pragma once

#include <cstdint>

#include "mpi/preload/preload.h"

namespace cairn::recorder {

struct Site;
struct Thread;

/// The call site of a call of `function` out of a binding, at `in_binding`. nullptr: no call of the program, but one
/// that the binding makes for its own purposes.
Site *fortran_site(Thread &thread, Site *in_binding, uint32_t function, uintptr_t stack);

/// Looks up what attributes need, and lets calls of PMPI_Comm_get_attr and the like through `pmpi_function` serve both
/// languages. Once, when the recorder is attached, before the oracle is.
void prepare_fortran(const CairnPreload &preload);

}  // namespace cairn::recorder
