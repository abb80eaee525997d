// AttachedPairs: which addresses of segments of dynamic windows (attached.h) in one run are which in another that makes
// the same calls: the i-th segment that a thread attached is the i-th that it attached there. Of which process an
// address is need not be known: it is compared with the segments of all, which hardly ever lie at the same numbers.
//
// Borrows the runs. One thread. Cost: nothing where no rank attaches anything; else, when it is asked first, all calls
// of the first run, and of the second, once; then the logarithm of the segments.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "analyze/attached.h"
#include "analyze/thread_calls.h"

namespace cairn::analyze {

class AttachedPairs {
 public:
  AttachedPairs(const Run &first, const Run &second) : first_(first), second_(second) {}
  /// Whether the two may be one place of one segment.
  bool same(uint64_t first, uint64_t second);

 private:
  void read();
  const Run &first_;
  const Run &second_;
  bool is_read_ = false;
  std::multimap<uint64_t, std::pair<Segment, Segment>> pairs_;  ///< by the address in the first run
  uint64_t longest_ = 0;
};

}  // namespace cairn::analyze
