// CommonClock: how this process's clock stood to rank 0's, when it was compared in MPI_Init and again before the ranks
// merge (src/mpi/finish/compare_clocks.h), and what follows for the rank's place on the axis of the run.
//
// Plain value in the arena, so that a rank that was killed later still knows its place. Times are CLOCK_MONOTONIC's.
#pragma once

#include <cstdint>

#include "trace/model/record.h"

namespace cairn::recorder {

struct ClockPoint {
  bool known;
  uint64_t own_ns;          ///< when, here
  int64_t offset_ns;        ///< rank 0's clock minus this one, then
  uint64_t uncertainty_ns;  ///< half the least round trip, summed along the way to rank 0; 0: it is the same clock
};

struct CommonClock {
  int64_t unix_offset_ns;       ///< CLOCK_REALTIME minus CLOCK_MONOTONIC here, when the recorder was attached
  int64_t root_unix_offset_ns;  ///< the same of rank 0
  ClockPoint first;
  ClockPoint last;

  /// Of a rank that began (RankClock) at `begin_ns`, whose recording took `wall_ns`, and whose times may be so far from
  /// CLOCK_MONOTONIC (CalibratedClock::uncertainty).
  [[nodiscard]] trace::RankClock of(uint64_t begin_ns, uint64_t wall_ns, uint64_t told_within_ns) const {
    const auto begin = static_cast<int64_t>(begin_ns);
    if (!first.known) return {begin + unix_offset_ns, 0, trace::RankClock::kOwn};
    double rate = 0;
    int64_t uncertainty = static_cast<int64_t>(first.uncertainty_ns);
    if (last.known && last.own_ns > first.own_ns) {
      const auto gained = static_cast<double>(last.offset_ns - first.offset_ns);
      const auto both = static_cast<double>(first.uncertainty_ns + last.uncertainty_ns);
      // What may be noise is not carried on to times before and after the comparisons.
      if (gained > both || gained < -both) rate = gained / static_cast<double>(last.own_ns - first.own_ns);
      if (last.uncertainty_ns > first.uncertainty_ns) uncertainty = static_cast<int64_t>(last.uncertainty_ns);
    }
    const double before = static_cast<double>(begin) - static_cast<double>(first.own_ns);
    const int64_t offset = first.offset_ns + static_cast<int64_t>(rate * before);
    return {begin + offset + root_unix_offset_ns, static_cast<int64_t>(rate * static_cast<double>(wall_ns)),
            uncertainty + static_cast<int64_t>(told_within_ns)};
  }
};

}  // namespace cairn::recorder
