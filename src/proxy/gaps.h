// How long a class's ranks computed before the calls of each row, in the mean over all times that it stands in their
// sequences. Where the timing mode keeps the times of calls these are their gaps; polls that found nothing, which are
// not made again, count as computing. Where it keeps statistics of gaps, it is the mean of the call site, and where it
// keeps none but of calls, the same for all: either so that the ranks' time outside of MPI comes out.
//
// Plain function. Cost: the calls of all ranks of the class, where there are times.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "trace/read/trace.h"

namespace cairn::proxy {

/// In ns, by row. `is_made`: whether the calls of a row are made again.
Result<std::vector<double>> mean_gaps(const trace::Trace &trace, uint32_t class_index,
                                      const std::function<bool(uint32_t row)> &is_made);

}  // namespace cairn::proxy
