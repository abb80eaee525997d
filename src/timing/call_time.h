// CallTime: when a call was, as a timing mode keeps it.
#pragma once

#include <cstdint>

namespace cairn::timing {

/// Nanoseconds from the end of the last call before it in its sequence that was no deeper (ends_by_depth.h; where there
/// is none: from the sequence's begin), and how long it took.
struct CallTime {
  uint64_t gap = 0;
  uint64_t duration = 0;
  bool operator==(const CallTime &) const = default;
};

}  // namespace cairn::timing
