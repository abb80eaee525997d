// RowTimes: how long the calls of one row of a class took on one rank, where the trace has each call's time: those that
// a filter wants, and the others.
//
// Plain value. 8 bytes for each of the calls, until they are many (timing/percentiles.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "timing/percentiles.h"

namespace cairn::analyze {

/// Of how many calls the times could not be read.
struct DamagedTimes {
  uint64_t calls = 0;
  std::optional<Error> first;  ///< what is wrong

  void add(uint64_t more, const Error &error) {
    calls += more;
    if (!first) first = error;
  }
};

struct RowTimes {
  uint64_t ns = 0;  ///< of calls that are wanted, as the next two
  uint64_t longest_ns = 0;
  timing::Durations durations;
  uint64_t others_ns = 0;

  void add(uint64_t duration_ns, bool wanted) {
    if (!wanted) {
      others_ns += duration_ns;
      return;
    }
    ns += duration_ns;
    longest_ns = std::max(longest_ns, duration_ns);
    durations.add(duration_ns);
  }
};

}  // namespace cairn::analyze
