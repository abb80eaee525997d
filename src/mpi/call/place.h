// Which rank this process is, where no MPI_Init told: in programs that use sessions alone, or whose MPI_Init came
// through a binding that the recorder does not see.
#pragma once

#include "mpi/store/process.h"

namespace cairn::recorder {

/// If the rank is not known, asks MPI for it, if its world is there. Where it has to be known now, what the launcher
/// said is taken otherwise. By a thread that calls MPI, with no call of ours under way.
enum class Need : uint8_t { if_mpi_knows, now };
void find_place(Process &of, Need need);

}  // namespace cairn::recorder
