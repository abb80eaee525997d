// Trips: how often loops of kernels turned, lane by lane. A warp turns as often as the lane that turns most; the others
// wait, or are told apart by a mask: those turns are lost.
//
// A loop is that of the program's text (loops.h), and its turns are the visits of the point at the top of its body. A
// lane that comes to the loop and never enters its body is not seen here. Where the beginning or the end of a warp was
// not kept, a loop that stood there is counted as far as it was. Plain function. Cost: a step per event of distinct
// warps.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/result.h"
#include "gpu/file/launches.h"

namespace cairn::analyze {

struct LoopTrips {
  uint32_t program = 0;
  uint16_t location = 0;
  uint64_t times = 0;           ///< that a warp went through the loop
  uint64_t turns = 0;           ///< of warps, together
  uint64_t lanes = 0;           ///< that went through it, together
  uint64_t lane_turns = 0;      ///< of these
  uint64_t lost = 0;            ///< turns of their warp in which these lanes were not there
  uint64_t least = UINT64_MAX;  ///< turns of a lane
  uint64_t most = 0;
  /// Lanes by their turns: at 1, 2, 4, 8, … those with as many and less than twice as many.
  std::map<uint64_t, uint64_t> lanes_by_turns;

  [[nodiscard]] double mean() const;  ///< turns of a lane
  /// Of the lanes of warps that turned, those that turned with them, 0 to 1.
  [[nodiscard]] double efficiency() const;
};

/// Of each loop that some warp went through, those that lost most first.
Result<std::vector<LoopTrips>> loop_trips(const gpu::Launches &launches);

}  // namespace cairn::analyze
