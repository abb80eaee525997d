// RowShares: how much of an axis each row of a class takes, each time that it stands in the class's sequence, where the
// trace does not have the time of each call.
//
// *Estimated*: a call takes what calls of its row took in the mean (trace/read/row_stats.h), and before it what lay
// before calls of its site in the mean; where the trace has no gaps, what lay before a call of the class's ranks in the
// mean. Rows whose statistics are shared have their common mean; all rows of one function, site and depth together take
// what the statistics say that they took. Calls nested in others take nothing: they are part of those.
// *Calls*: each call takes 1,000, nested ones too.
//
// Members of a class may differ in how many calls a row stands for (polls, drained arrays: trace/model/row_kind.h):
// such a row takes the mean of all members and all rows of its group, so that the members together take what they took.
//
// Numbers are fixed-point, 2^-32 ns, in 128 bits: sums are exact however they are made, and a whole run's are within
// 2^-33 ns a call of counts times means. Cost: the class's rows, grammar, slots of statistics and counts; where there
// are no gaps, its ranks.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "trace/read/trace.h"

namespace cairn::timeline {

/// 2^-32 ns.
using Ticks = __uint128_t;
constexpr int kTickBits = 32;
constexpr Ticks ticks_of(uint64_t ns) { return Ticks{ns} << kTickBits; }
constexpr uint64_t ns_of(Ticks ticks) {
  return ticks >> kTickBits > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(ticks >> kTickBits);
}

enum class AxisKind : uint8_t {
  measured,   ///< when each call was
  estimated,  ///< from the means of calls and of gaps
  calls,      ///< nothing is known of time: each call takes kCallNs
};
/// "measured", …
const char *name_of(AxisKind kind);
constexpr uint64_t kCallNs = 1000;
/// Which one a trace has.
AxisKind axis_of(const trace::Trace &trace);

/// What a row takes: first the time before its calls, then they.
struct RowShare {
  Ticks gap = 0;
  Ticks call = 0;
  bool many = false;  ///< calls whose gaps lie between them
  [[nodiscard]] Ticks whole() const { return gap + call; }
  /// How much of the first `ticks` of it is gap.
  [[nodiscard]] Ticks gap_in(Ticks ticks) const;
};

class RowShares {
 public:
  /// Borrows the trace. `kind` must not be `measured`.
  RowShares(const trace::Trace &trace, AxisKind kind) : trace_(trace), kind_(kind) {}
  /// By row. The class must exist.
  [[nodiscard]] std::vector<RowShare> of(uint32_t class_index);

 private:
  [[nodiscard]] double mean_gap_ns(uint32_t class_index);
  /// Of one member in the mean.
  double calls_of(uint32_t class_index);

  const trace::Trace &trace_;
  AxisKind kind_;
  std::map<uint32_t, double> calls_;  ///< by class
};

}  // namespace cairn::timeline
