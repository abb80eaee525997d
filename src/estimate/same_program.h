// Whether two runs are of one program, by the functions that they call and where.
#pragma once

#include <cstddef>
#include <string>

#include "trace/read/trace.h"

namespace cairn::estimate {

struct Shared {
  size_t common = 0;      ///< functions at lines of the source that both call
  size_t only_first = 0;  ///< that the first alone does
  size_t only_second = 0;
  std::string example;  ///< one that a single run calls; empty: there is none
  bool of_first = false;
  /// More than half of what they call is called by one of them alone: not so of one program, whose other sizes call a
  /// few functions more.
  [[nodiscard]] bool differ() const { return only_first + only_second > common; }
};

/// Functions alone count where lines are not known, as places in a program that was built for each size say nothing.
/// Cost: the rows of both.
Shared compare_programs(const trace::Trace &first, const trace::Trace &second);

}  // namespace cairn::estimate
