// What of a call does not repeat by itself, put into its plan: whom a receive from anybody heard, which requests were
// done, and what must be there before the call is made so that it finds what it found.
//
// Plain function; cost: a look at the row's fields.
#pragma once

#include "replay/plan.h"
#include "trace/model/record.h"

namespace cairn::replay {

/// `row` is a call that succeeded, and whose arguments are in the plan already.
void force_outcome(const Surroundings &with, const trace::Row &row, Plan *plan);

}  // namespace cairn::replay
