// Axis: all ranks' times as one. A trace has each rank's times as its own clock told them, counted from its begin,
// and where that lies on the clock of rank 0 (RankClock). On the axis, 0 is when the first of the ranks began.
// Where messages showed that this was not exact, `cairn repack --clocks` added corrections, which are part of the axis.
//
// Where nothing is known of some rank (traces without the section `clocks`, of GPUs alone), each rank keeps its own
// zero. Plain value, made once for a trace: cost in proportion to the ranks. Const; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/as_size.h"
#include "trace/model/record.h"
#include "trace/read/corrections.h"
#include "trace/values/fold_column.h"
#include "trace/values/rank_set.h"

namespace cairn::trace {

class Axis {
 public:
  /// A rank's own times as times on the axis.
  struct Place {
    int64_t begin_ns = 0;              ///< of its zero
    double rate = 0;                   ///< what the axis gains on its clock
    const RankShift *shift = nullptr;  ///< its corrections; nullptr: there are none
    [[nodiscard]] uint64_t of(uint64_t own_ns) const {
      const double gained = rate * static_cast<double>(own_ns);
      int64_t sum = begin_ns;
      if (__builtin_add_overflow(sum, static_cast<int64_t>(gained), &sum)) return own_ns;
      if (__builtin_add_overflow(sum, static_cast<int64_t>(std::min<uint64_t>(own_ns, INT64_MAX)), &sum)) return own_ns;
      const uint64_t measured = sum < 0 ? 0 : static_cast<uint64_t>(sum);
      return shift == nullptr ? measured : measured + shift->of(since_begin(measured));
    }
    /// The first of the rank's own times that is not before `axis_ns`; where files of others make moments change
    /// places, one of those that may be. Cost: some sixty times that of `of`.
    [[nodiscard]] uint64_t own_of(uint64_t axis_ns) const {
      uint64_t least = 0;
      uint64_t most = INT64_MAX;
      while (least < most) {
        const uint64_t middle = least + (most - least) / 2;
        if (of(middle) < axis_ns) {
          least = middle + 1;
        } else {
          most = middle;
        }
      }
      return least;
    }
    /// What corrections count from: the rank's zero, at the pace of the axis.
    [[nodiscard]] uint64_t since_begin(uint64_t on_axis_ns) const {
      const uint64_t zero = begin_ns < 0 ? 0 : static_cast<uint64_t>(begin_ns);
      return on_axis_ns < zero ? 0 : on_axis_ns - zero;
    }
  };

  Axis() = default;
  /// Of RankClock's members, and the walls, along the ranks.
  Axis(const FoldColumn &begin, const FoldColumn &drift, const FoldColumn &uncertainty, const FoldColumn &wall);

  /// Whether the ranks have a common zero.
  [[nodiscard]] bool common() const { return common_; }
  /// Whether all ranks' clocks were compared with rank 0's; else some stand by their own wall clocks.
  [[nodiscard]] bool compared() const { return compared_; }
  [[nodiscard]] int64_t begin_unix_ns() const { return begin_unix_ns_; }
  [[nodiscard]] uint64_t uncertainty_ns() const { return uncertainty_ns_; }  ///< the largest of a rank
  [[nodiscard]] uint64_t drift_ns() const { return drift_ns_; }              ///< the largest, without its sign
  [[nodiscard]] uint64_t spread_ns() const { return spread_ns_; }  ///< from the first rank's begin to the last

  /// `place` of a rank among the trace's.
  [[nodiscard]] Place at(uint64_t place) const {
    Place found = place < places_.size() ? places_[as_size(place)] : Place();
    if (corrections_ && place < corrections_->ranks.size()) found.shift = &corrections_->ranks[as_size(place)];
    return found;
  }

  /// nullptr: nobody has looked whether it needs some.
  [[nodiscard]] const Corrections *corrections() const { return corrections_ ? &*corrections_ : nullptr; }
  /// nullopt: the axis as the clocks were measured.
  void correct(std::optional<Corrections> corrections) { corrections_ = std::move(corrections); }

 private:
  bool common_ = false;
  bool compared_ = false;
  int64_t begin_unix_ns_ = 0;
  uint64_t uncertainty_ns_ = 0;
  uint64_t drift_ns_ = 0;
  uint64_t spread_ns_ = 0;
  std::vector<Place> places_;  ///< empty where there is no common zero
  std::optional<Corrections> corrections_;
};

}  // namespace cairn::trace
