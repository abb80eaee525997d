// Report: what a replay took beside what was recorded, by function; printed by rank 0.
#pragma once

#include "replay/job.h"

namespace cairn::replay {

/// Collective over MPI_COMM_WORLD, just before MPI ends; its messages are not recorded.
void report(const Job *job);

}  // namespace cairn::replay
