#include "trace/read/axis.h"

namespace cairn::trace {

Axis::Axis(const FoldColumn &begin, const FoldColumn &drift, const FoldColumn &uncertainty, const FoldColumn &wall) {
  if (begin.size() == 0 || uncertainty.constant_value() == RankClock::kNone) return;
  const std::vector<Atom> begins = begin.expand();
  const std::vector<Atom> drifts = drift.expand();
  const std::vector<Atom> uncertainties = uncertainty.expand();
  const std::vector<Atom> walls = wall.expand();
  const auto [first, last] = std::minmax_element(begins.begin(), begins.end());
  int64_t spread = 0;
  if (__builtin_sub_overflow(*last, *first, &spread)) return;  // no clocks are so far apart
  compared_ = true;
  for (const Atom each : uncertainties) {
    if (each == RankClock::kNone) return;
    if (each == RankClock::kOwn) compared_ = false;
    uncertainty_ns_ = std::max(uncertainty_ns_, each < 0 ? 0 : static_cast<uint64_t>(each));
  }
  common_ = true;
  begin_unix_ns_ = *first;
  spread_ns_ = static_cast<uint64_t>(spread);
  places_.reserve(begins.size());
  for (size_t i = 0; i < begins.size(); ++i) {
    const double drifted = static_cast<double>(drifts[i]);
    const double lasted = static_cast<double>(std::max<Atom>(walls[i], 1));
    // A clock that is wrong by more than a thousandth is broken, or the file is.
    const double rate = std::clamp(drifted / lasted, -1e-3, 1e-3);
    drift_ns_ = std::max(drift_ns_, static_cast<uint64_t>(std::min(drifted < 0 ? -drifted : drifted, 9e18)));
    places_.push_back({begins[i] - *first, rate});
  }
}

}  // namespace cairn::trace
