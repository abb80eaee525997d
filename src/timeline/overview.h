// Overview: what ranks did over the whole run, in columns that stay, made a number of calls at a time: so that a page
// can draw while it goes, and has a strip of any window at once afterwards.
//
// Such a strip is exact where the edges of its columns are edges of the overview's; within one of these, shares are
// taken evenly. Where columns are as wide as calls are long, Timeline::strip of the window itself says more.
//
// Cost: where calls have times all calls once, on one core (who wants all cores asks Timeline::strip for the whole
// run); else the grammar of each kind of rank once. Memory: at most kMostBytes, in up to kMostColumns columns; fewer
// where there are many lines and kinds. One thread at a time. Borrows the timeline, which must not be asked meanwhile
// by another thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "timeline/strip.h"

namespace cairn::timeline {

class Overview {
 public:
  static constexpr size_t kMostColumns = 2048;
  static constexpr size_t kMostLines = 1024;
  static constexpr size_t kMostBytes = size_t{64} << 20;

  /// Of these ranks in these lines, kMostLines at most; the window, columns and calls of `wanted` are left aside.
  Overview(Timeline *timeline, Wanted wanted);
  Overview(const Overview &) = delete;
  Overview &operator=(const Overview &) = delete;

  /// Goes through so many calls more; where calls have no times, through some more rows and sums than that. False once
  /// all is there. Fails where times cannot be read: then it can go on no more.
  Result<bool> advance(uint64_t most);
  [[nodiscard]] size_t ranks() const { return wanted_.ranks.size(); }
  [[nodiscard]] size_t ranks_done() const { return done_; }
  /// All columns, as far as they are there. Its `steps` say how many calls were gone through.
  [[nodiscard]] const Strip &all() const { return all_; }
  /// Of a window, as far as it is there. Costs the columns of both.
  [[nodiscard]] Strip strip(uint64_t begin_ns, uint64_t end_ns, size_t columns) const;

 private:
  Timeline &timeline_;
  Wanted wanted_;
  Timeline::Lines lines_;
  Strip all_;
  size_t done_ = 0;
  // Of the rank that is gone through:
  std::optional<RankCalls> calls_;
  std::optional<RankFill> fill_;
  /// Where calls have no times, what is left.
  std::map<size_t, std::vector<Timeline::InLine>> shapes_;
};

}  // namespace cairn::timeline
