// GatheredLine: what is gathered for one line of a summary, and what that says of its times: how long the calls took,
// and which ranks spent least and most in them.
//
// Times come from the statistics of rows, from what each rank spent in a function (rank_sums.h), or from each call's
// own. Statistics name, of each row, the ranks with the least and the greatest sum. Where a line has several rows, such
// a rank is taken to have spent the mean in the others, which makes it an estimate, unless it is the same in all of
// them. Borrows nothing. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyze/rank_sums.h"
#include "analyze/row_times.h"
#include "analyze/summary.h"

namespace cairn::analyze {

class GatheredLine {
 public:
  SummaryLine line;
  std::map<uint32_t, uint64_t> functions;  ///< by rank: how often each is called
  std::map<uint32_t, uint64_t> spent;      ///< by rank: ns in each, of single calls

  /// That makes the call.
  void add_rank(uint32_t rank);
  /// Of a row of the line; nothing if they are not known of the calls that are wanted.
  void add_stats(uint32_t class_index, const std::optional<trace::RowStats> &stats);
  void add_times(uint32_t rank, const RowTimes &times);
  /// For percentiles.
  void add_durations(const timing::Durations &durations) { durations_.merge(durations); }

  /// Of a function, under statistics: takes each rank's time in it, where it is known of all that make the call. It is
  /// there even where a filter takes some ranks of a class only, but no more than the sum is known then.
  void sum_ranks(const RankSums &sums, const std::vector<uint32_t> &ranks);
  /// Everything is gathered: the line's ranks, percentiles and imbalance. Not of lines by rank.
  void finish(const trace::Trace &trace);

 private:
  /// Of its statistics, what is asked of each row by itself.
  struct Row {
    uint64_t greatest_sum;
    uint64_t least_sum;
    double mean_sum;
    uint32_t greatest_rank;
    uint32_t least_rank;
    uint32_t class_index;
    bool are_estimates;
  };
  [[nodiscard]] bool makes_call(uint32_t rank) const { return rank < ranks_.size() && ranks_[rank]; }
  [[nodiscard]] OfRank most_of_rows(const trace::Trace &trace);
  [[nodiscard]] OfRank least_of_rows(const trace::Trace &trace);
  [[nodiscard]] OfRank of_rows(const trace::Trace &trace, uint32_t rank, bool most) const;

  std::vector<bool> ranks_;
  std::map<uint32_t, uint64_t> sums_;  ///< by rank
  std::vector<Row> rows_;
  timing::CallStats of_rows_;  ///< of all of them
  timing::Durations durations_;
};

}  // namespace cairn::analyze
