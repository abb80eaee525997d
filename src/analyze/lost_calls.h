// LostCalls: which losses of a rank (trace/model/losses.h) stand in the way of matching its messages and collective
// calls.
//
// What a program asks of MPI without touching messages or objects (MPI_Comm_rank), collective calls that all members
// left out alike, and probes that leave a message where it is may be missing: what is there still meets what it met.
// Where tracing was off, or memory ended, nobody knows what is missing.
#pragma once

#include "trace/model/losses.h"

namespace cairn::analyze {

/// Whether calls may be missing that messages, requests or communicators of others hang on. Costs a look at all
/// functions for calls that were left out by --exclude.
bool breaks_matching(const trace::Loss &loss);

}  // namespace cairn::analyze
