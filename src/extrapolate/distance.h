// Distance: how far an extrapolated trace is from a recorded one of the same size, where they are not the same: in
// calls, in messages and bytes sent point to point, and between the matrices of who sends how much to whom.
//
// Partners are as the calls name them, in their communicators. Plain functions. Cost: the distinct calls of all ranks.
#pragma once

#include <cstdint>

#include "trace/read/trace.h"

namespace cairn::extrapolate {

struct Traffic {
  uint64_t calls = 0;
  uint64_t messages = 0;  ///< sent point to point
  uint64_t bytes = 0;     ///< of them
  uint64_t collective_bytes = 0;
  uint64_t mpi_ns = 0;  ///< over all ranks, without MPI_Init and MPI_Finalize; 0: not known
};

struct Distance {
  Traffic first;
  Traffic second;
  /// Sums of |a - b| over all pairs of ranks, as a share of the sums of a + b: 0 the same, 1 nothing in common.
  double messages = 0;
  double bytes = 0;
};
Distance distance_between(const trace::Trace &first, const trace::Trace &second);

}  // namespace cairn::extrapolate
