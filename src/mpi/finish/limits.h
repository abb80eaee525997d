// RaisedLimits: while one lives, the process may have as much memory as its hard limits allow, whatever the program has
// set its soft ones to: what ends a recording, and MPI when it is asked to communicate then, needs more than a program
// may need that only calls MPI_Finalize. One at a time.
#pragma once

#include <sys/resource.h>

namespace cairn::recorder {

class RaisedLimits {
 public:
  RaisedLimits();
  ~RaisedLimits();
  RaisedLimits(const RaisedLimits &) = delete;
  RaisedLimits &operator=(const RaisedLimits &) = delete;

  /// Whether there is room for MPI to communicate; tries it.
  [[nodiscard]] static bool suffice();

 private:
  static constexpr __rlimit_resource kRaised[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK};
  static constexpr int kCount = 3;
  rlimit before_[kCount] = {};
  bool raised_[kCount] = {};
};

}  // namespace cairn::recorder
