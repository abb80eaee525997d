// DrawnGaps: how long to wait before each call where the trace has no time of it but, for each call site, the histogram
// of the gaps of all ranks (--timing stats-gaps).
//
// Drawn so that they are as if dealt out, not thrown: the n-th gap of a site is the value below which a share u(n) of
// the site's gaps lies, where u goes up by the golden ratio's fraction each time, modulo 1, from a begin that rank
// and site tell. Of any n gaps of a site in order so many are of a bucket as its share of n says, within 1 + log2(n).
// A value within its bucket is the more likely the smaller, as where ratios are alike. Then all gaps of a rank of one
// thread are stretched alike, so that they come to what it spent outside MPI in the recording.
//
// The same on each run. One thread. Cost: a search in the buckets that a site has.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/read/trace.h"

namespace cairn::replay {

class DrawnGaps {
 public:
  /// Borrows the trace.
  DrawnGaps(const trace::Trace &trace, uint32_t rank);
  /// The trace has gaps.
  [[nodiscard]] bool known() const { return known_; }
  /// Before the next call at that site of a class (Row::site), in ns; what the others have in the mean where that site
  /// has none.
  uint64_t next(uint32_t class_index, uint32_t site);

 private:
  struct Step {
    double up_to;  ///< share of the gaps that lie here or below
    double first;  ///< ns
    double last;
  };
  struct Site {
    std::vector<Step> steps;
    double stretch = 1;  ///< so that the mean is the recorded one
    double u = 0;
  };
  Site made(uint32_t class_index, uint32_t site) const;

  const trace::Trace &trace_;
  uint32_t rank_;
  bool known_ = false;
  double stretch_ = 1;  ///< of this rank
  std::map<std::pair<uint32_t, uint32_t>, Site> sites_;
};

}  // namespace cairn::replay
