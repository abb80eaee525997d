// Calls that arrive through a Fortran binding.
//
// A binding implements `mpi_send_` by calling MPI_Send (MPICH's mpif.h) or PMPI_Send (MPICH's mpi_f08, all of Open
// MPI's), so that the call's return address lies in the binding. The preload notes where the program entered it
// (CairnFortranEntry) and lets the PMPI_ function of the same name lead to the wrapper; the first C call of the same
// function then belongs to that entry and takes its site from there. So a call is recorded as its C call, with what the
// binding made of the arguments, and the program gets what the binding makes of the answer.
//
// Nobody tells when an entry returns. A note counts only if its stack address lies close above the C call's (a
// binding's frames are small) and if no C call has answered it yet. So what callbacks or longjmp leave behind is never
// taken for the entry in progress: each call of a callback is an entry of its own with its own note, and an entry that
// was left has been answered.
//
// An entry that no C call answers before the next one is a call that nobody saw: the trace says that such calls are
// missing. What bindings are known to do by themselves is wrapped by hand: fortran_attributes.h, fortran_calls.h.
//
// Threads: any; notes are per thread. Cost: some nanoseconds, for calls out of a binding alone. No errors.
#pragma once

#include <cstdint>

#include "mpi/call/thread.h"
#include "mpi/preload/preload.h"

namespace cairn::recorder {

/// The function that was entered.
uint32_t entered(const CairnFortranEntry &entry);

/// Whether `entry` may be what led to a wrapper whose frame is at `stack`.
bool is_pending(const CairnFortranEntry &entry, uintptr_t stack);

/// The call site of a call of `function` out of a binding, at `in_binding`. nullptr: no call of the program, but one
/// that the binding makes for its own purposes.
Site *fortran_site(Thread &thread, Site *in_binding, uint32_t function, uintptr_t stack);

/// Whether `status` is Fortran's MPI_STATUS_IGNORE (`all`: MPI_STATUSES_IGNORE), of either kind.
bool is_no_status(const void *status, bool all);

/// A status of the thread's call that comes next which the program does not want although the binding does.
const void **unwanted_status();

/// Looks the constants up. Once, when the recorder is attached.
void prepare_fortran_sites(const CairnPreload &preload);

}  // namespace cairn::recorder
