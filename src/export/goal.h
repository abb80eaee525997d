// GOAL: a run as a schedule in the group operation assembly language, which LogGOPSim simulates (Hoefler, Siebert,
// Lumsdaine, "Group Operation Assembly Language", ICPP 2009; Hoefler, Schneider, Lumsdaine, "LogGOPSim", LSAP 2010).
//
// A rank is a list of operations, calc, send and recv, and of what each needs: `l5 requires l4` begins it when l4 is
// complete, `l5 irequires l4` when l4 has begun. Computing between calls is a calc of so many nanoseconds. Blocking
// operations need what stands before them to be complete; what follows a nonblocking one needs it to have begun only,
// and what follows the call that completes its request needs it to be complete. Collective operations are the messages
// of simgrid/rounds.h, a round after the other.
//
// A receive is written when it is known whom it heard and how much came, at the place where it was posted. What is
// written behind it waits in memory until then. Messages of no bytes have one, as Schedgen writes them, since the
// model charges for bytes but the first. Tags below 2^30 of MPI_COMM_WORLD stay what they are; all others are numbered
// from there on.
//
// Borrows the scope, whose ranks must be all. One thread. Costs all calls, twice.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "export/files.h"
#include "export/message_ends.h"
#include "export/scope.h"

namespace cairn::exporting {

struct GoalCounts {
  uint64_t operations = 0;
  uint64_t sends = 0;        ///< of the program, not of what collective operations became
  uint64_t collectives = 0;  ///< a rank's part in an operation counts as one
  uint64_t computed_ns = 0;  ///< by all ranks
  uint64_t cancelled = 0;    ///< messages that the program cancelled: they take no time
  uint64_t unfinished = 0;   ///< receives that were never completed: they do not stand there
  uint64_t strange = 0;      ///< collective operations whose processes the trace does not know
  LeftOut left_out;
};

/// `gaps`: what lies between calls takes time.
Result<void> write_goal(Scope *scope, bool gaps, OutFile *out, GoalCounts *counts);

}  // namespace cairn::exporting
