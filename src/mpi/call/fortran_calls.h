// What Open MPI's Fortran library does without its C functions: attributes, which of Fortran are integers, what makes
// keyvals and error handlers of Fortran functions, MPI_Type_match_size, waiting for no request, and
// MPI_Request_get_status without a status.
//
// The slots of these entries lead to wrappers. Such a wrapper records the call as the C function: it converts the
// arguments, has the binding's own entry do what was asked for, and converts what that gave. The oracle in between sees
// the same C call. The program gets what the entry gives. Any thread; costs no other call anything.
#pragma once

#include "mpi/preload/preload.h"

namespace cairn::recorder {

/// Looks up what these wrappers need. Once, when the recorder is attached, before the oracle is: for that calls of the
/// C functions through `pmpi_function` serve both languages.
void prepare_fortran_calls(const CairnPreload &preload, bool with_oracle);

}  // namespace cairn::recorder
