// Integrity: reads everything that a trace holds, decodes it and says what does not fit: the check behind
// `cairn verify`. Checksums were verified when the trace was opened, but those of times, whose blocks have their own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/read/trace.h"

namespace cairn::analyze {

struct Integrity {
  uint64_t calls = 0;   ///< over all ranks
  uint64_t rows = 0;    ///< distinct calls decoded, over all ranks
  uint64_t values = 0;  ///< arguments decoded
  uint64_t fault_count = 0;
  std::vector<std::string> faults;  ///< the first 20, a line each
};

Integrity check_integrity(const trace::Trace &trace);

}  // namespace cairn::analyze
