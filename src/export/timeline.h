// The calls of a run, and what warps of GPU kernels did, as timelines for viewers: a process a rank, a thread a thread,
// a slice a call; marks for the messages that it sends and receives, and an arrow from one to the other. A stream of a
// GPU is a thread of its rank, and a kernel that ran there a slice, where it is known when. Of what warps did, a launch
// is a process, too, and a warp a thread.
//
// Where arrows are wanted all ranks are gone through side by side (analyze/messages.h): memory for the calls of all
// ranks as Events has it, and for what was sent and not received; else for one rank at a time. Borrows all. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "export/kernels.h"
#include "export/message_ends.h"
#include "export/scope.h"
#include "export/timeline_writer.h"
#include "gpu/file/launches.h"

namespace cairn::exporting {

struct TimelineCounts {
  uint64_t calls = 0;
  uint64_t arrows = 0;
  LeftOut left_out;
};

/// Fails where calls, or times that the trace has, cannot be read: then all that could be is there.
Result<void> write_calls(Scope *scope, bool arrows, TimelineWriter *writer, TimelineCounts *counts);

/// Kernels of the ranks and the window that are wanted, on tracks of these ranks, which must be there; what was before
/// the axis begins is cut off.
void write_kernels(const Kernels &kernels, const gpu::Launches &launches, TimelineWriter *writer);

/// Which warps, and how much of each.
struct WantedWarps {
  std::vector<uint32_t> launches;     ///< ascending; empty: all
  std::vector<uint32_t> warps;        ///< the same
  uint64_t most_events = UINT64_MAX;  ///< of each warp
  bool points = true;                 ///< a slice for each event
  uint32_t processes = 0;             ///< that others have
};

struct WarpCounts {
  uint64_t warps = 0;
  uint64_t events = 0;
};

WarpCounts count_warps(const gpu::Launches &launches, const WantedWarps &wanted);
/// What warps recorded has no times: an event of a warp is a microsecond.
Result<void> write_warps(const gpu::Launches &launches, const WantedWarps &wanted, TimelineWriter *writer);

}  // namespace cairn::exporting
