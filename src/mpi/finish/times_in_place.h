// write_times_in_place: where the timing mode keeps times, the ranks' own times go straight into the file that is to
// become the trace, each rank's from that rank (src/blocks), before the parts are merged: what travels up the tree, and
// what the root holds, has only the offsets.
//
// Worth its collectives only where there is much to write: from `Config::blocks_from` bytes a rank on average, as rank
// 0 has it. Where a rank does not see the file, or cannot write to it, all keep their times in their parts.
#pragma once

#include <string>

#include "mpi/call/mpi_calls.h"
#include "mpi/store/run.h"
#include "trace/merge/part.h"

namespace cairn::recorder {

/// Collective over `comm`, the recorder's own communicator, on every rank, whatever its settings; `part` is nullptr on
/// one that lost its own. Gives how many bytes of blocks lie in `path` (rank 0's word), behind the place of the file's
/// header; 0: the times are still in the parts, and there is no file. Throws nothing.
uint64_t write_times_in_place(const Run &run, mpi::Handle comm, trace::Part *part, const std::string &path);

}  // namespace cairn::recorder
