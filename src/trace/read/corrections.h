// Corrections: the section `corrections`: how far each rank's times were moved along the axis of the run so that no
// message arrives before it was sent (docs/format.md, "corrections"; made by src/analyze/logical_clock.h).
//
// Plain values; concurrent const use is fine. `of` costs the logarithm of the knots.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "trace/code/section.h"

namespace cairn::trace {

/// From this moment on, by this much; between two knots along a straight line, rounded towards the first. In ns.
struct Knot {
  uint64_t at_ns = 0;
  uint64_t shift_ns = 0;
  bool operator==(const Knot &) const = default;
};

/// A shift for each moment: nothing before the first knot, and from the last on what that says.
class Knots {
 public:
  /// None is later, and no shift larger: a hundred years.
  static constexpr uint64_t kMost = uint64_t{3'155'760'000} * 1'000'000'000;

  [[nodiscard]] uint64_t of(uint64_t at_ns) const;
  /// Behind all others. False, and nothing added, where it is not later, or beyond kMost.
  bool add(Knot next);
  /// Takes back those at this moment and later.
  void cut(uint64_t at_ns);
  [[nodiscard]] const std::vector<Knot> &all() const { return knots_; }
  bool operator==(const Knots &) const = default;

 private:
  std::vector<Knot> knots_;
};

/// Of one rank; moments count from its own MPI_Init, at the pace of the axis. Together the two never fall faster than
/// time goes on, so that no two moments change places (in files that others made they may).
struct RankShift {
  Knots after;   ///< what puts arrivals right, and wears off after them
  Knots before;  ///< what leads up to them, in addition
  [[nodiscard]] uint64_t of(uint64_t at_ns) const { return after.of(at_ns) + before.of(at_ns); }
  bool operator==(const RankShift &) const = default;
};

struct Corrections {
  uint64_t arrivals = 0;         ///< of messages and collective calls that were looked at
  uint64_t reversed = 0;         ///< of them arrived before they were sent
  uint64_t doubtless = 0;        ///< of these by more than both clocks' uncertainty
  uint64_t moved = 0;            ///< of the arrivals have been moved, or what they came from
  uint64_t left = 0;             ///< still arrive before they were sent: calls that took no time by a coarse clock
  uint64_t largest_ns = 0;       ///< the largest shift of a moment
  std::vector<RankShift> ranks;  ///< in the order of the trace's

  [[nodiscard]] Bytes write() const;
  static Result<Corrections> parse(const SectionView &section, uint64_t ranks, Allowance *allowance);
};

}  // namespace cairn::trace
