// The encoder: from a finished call to its packed row. Table-driven: one interpreter over spec::Function serves every
// MPI function.
//
// `save_before` runs before the real call and keeps what the call may overwrite (inout parameters, capacities of
// outputs). `encode` runs after it: names every handle and buffer, creates and ends objects as the call did, and leaves
// the packed row in thread.row. Both are called by the owning thread only. Layouts: spec/spec.h. Cost: 100 to 300 ns;
// more for long arrays.
//
// Values that a call both reads and writes: handles are kept as they were before; integers and statuses as they were
// before and, if the call succeeded and they are valid, after it, in one field (first all before, then all after).
#pragma once

#include "mpi/call/outcome.h"
#include "mpi/call/thread.h"

namespace cairn::recorder {

/// False without memory: the call must then go unrecorded.
bool save_before(Thread &thread, Frame &frame);

/// False without memory. `returned` is false for a call that never came back: only its inputs are known.
enum class Keep : uint8_t {
  row,
  handles,  ///< only what the call does to them: its row has no place in the sequence
};
bool encode(Thread &thread, Frame &frame, bool returned, Outcome *outcome, Keep keep = Keep::row);

/// The row of the call without any values, for when there is no memory for them. Needs no memory of its own.
bool encode_bare(Thread &thread, const Frame &frame);

}  // namespace cairn::recorder
