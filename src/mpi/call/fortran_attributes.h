// Attributes of communicators, datatypes and windows as MPICH's Fortran binding asks for them.
//
// The binding calls MPII_Comm_get_attr and the like, with values as Fortran sees them: integers. They are wrapped here
// by hand and recorded as MPI_Comm_get_attr, MPI_Attr_get, …. Any thread.
#pragma once

#include "mpi/preload/preload.h"

namespace cairn::recorder {

/// Looks up what attributes need, and lets calls of PMPI_Comm_get_attr and the like through `pmpi_function` serve both
/// languages. Once, when the recorder is attached, before the oracle is.
void prepare_fortran(const CairnPreload &preload);

}  // namespace cairn::recorder
