// DrawnGaps: how long to wait before each call where the trace has no time of it but, for each call site, the histogram
// of the gaps of all ranks (--timing stats-gaps).
//
// Dealt out, not thrown. Of a site whose calls a rank makes N times, the gaps of all ranks, ascending, are parted
// into N equal parts, and each of its calls gets a gap of another part; where in its part differs from rank to rank,
// so that all ranks together have what the histogram has, and the sum of a site's gaps over all ranks is the recorded
// one where they make its calls equally often. Parts follow each other by steps near N over the golden ratio: of any
// n gaps in order as many are of a bucket as its share of n says, within 1 + log2(n). Then the gaps of a rank of one
// thread are stretched alike: by how much longer it was outside MPI than its calls have it in the mean, against the
// same of all ranks.
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
  /// Before the next call at that site of a class (Row::site), in ns; 0 where nothing is known of that site.
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
    uint64_t parts = 1;
    uint64_t part = 0;  ///< the next gap's
    uint64_t step = 1;
    double within = 0;  ///< a part
  };
  Site made(uint32_t class_index, uint32_t site, uint64_t calls) const;

  const trace::Trace &trace_;
  uint32_t rank_;
  bool known_ = false;
  double stretch_ = 1;  ///< of this rank
  std::map<std::pair<uint32_t, uint32_t>, Site> sites_;
};

}  // namespace cairn::replay
