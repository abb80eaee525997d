// What lines of a summary say of times, from statistics of rows and from calls.
#include "analyze/gathered_line.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace cairn::analyze {
namespace {

using Sums = std::vector<uint64_t>;

/// What one thread spent in each of its rows, each called once.
trace::SequenceRecord thread(uint32_t number, const Sums &sums) {
  trace::SequenceRecord sequence;
  sequence.thread = number;
  std::vector<grammar::Symbol> calls;
  for (const uint64_t sum : sums) {
    trace::Row row;
    row.function = static_cast<uint32_t>(10 + calls.size());
    ByteWriter packed;
    trace::pack_row(row, packed);
    calls.push_back(static_cast<grammar::Symbol>(calls.size()));
    sequence.rows.push_back(packed.take());
    timing::CallStats stats;
    stats.count = 1;
    stats.sum = stats.minimum = stats.maximum = sum;
    stats.histogram[static_cast<size_t>(timing::CallStats::bucket(sum))] = 1;
    sequence.stats.push_back(stats);
  }
  sequence.calls = grammar::Grammar::from_symbols(calls);
  return sequence;
}

/// By rank: what each of its threads spent in each row.
trace::Trace traced(const std::vector<std::vector<Sums>> &ranks) {
  std::optional<trace::Part> whole;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    trace::ProcessRecord process;
    process.rank = rank;
    process.size = static_cast<uint32_t>(ranks.size());
    for (uint32_t number = 0; number < ranks[rank].size(); ++number) {
      process.sequences.push_back(thread(number, ranks[rank][number]));
    }
    auto part = trace::Part::of(process);
    if (part && whole) part = trace::Part::merge(std::move(*whole), std::move(*part));
    if (!part) throw std::runtime_error(part.error().message);
    whole = std::move(*part);
  }
  auto trace = trace::Trace::from_bytes(*whole->to_file({}), "test");
  if (!trace) throw std::runtime_error(trace.error().message);
  return std::move(*trace);
}

/// Of all rows of all classes.
SummaryLine line_of(const trace::Trace &trace) {
  GatheredLine gathered;
  for (const uint32_t rank : trace.ranks()) gathered.add_rank(rank);
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    for (uint32_t row = 0; row < trace.class_view(index).rows; ++row) {
      gathered.add_stats(index, trace.row_stats(index, row));
    }
  }
  gathered.finish(trace);
  return gathered.line;
}

TEST(GatheredLine, NamesTheRanksOfOneRow) {
  const SummaryLine line = line_of(traced({{{4000}}, {{1000}}, {{3000}}, {{2000}}}));
  ASSERT_TRUE(line.least && line.most && line.imbalance);
  EXPECT_EQ(line.least->rank, 1U);
  EXPECT_EQ(line.least->ns, 1000U);
  EXPECT_EQ(line.most->rank, 0U);
  EXPECT_EQ(line.most->ns, 4000U);
  EXPECT_FALSE(line.least->is_estimate || line.most->is_estimate);
  EXPECT_DOUBLE_EQ(*line.imbalance, 1.6);
  ASSERT_TRUE(line.percentiles.has_value());
  EXPECT_EQ(line.percentiles->p99.ns, 4000U);  // the longest
  EXPECT_EQ(line.percentiles->p99.error, 0);
  EXPECT_GT(line.percentiles->median.error, 0);
}

TEST(GatheredLine, EstimatesWhereRowsHaveDifferentRanks) {
  // Rank 1 has the least in both rows, and the most is once of rank 0, once of rank 2.
  const SummaryLine line = line_of(traced({{{4000, 500}}, {{1000, 100}}, {{3000, 700}}}));
  ASSERT_TRUE(line.least && line.most);
  EXPECT_EQ(line.least->rank, 1U);
  EXPECT_EQ(line.least->ns, 1100U);
  EXPECT_FALSE(line.least->is_estimate);
  EXPECT_EQ(line.most->rank, 0U);
  EXPECT_TRUE(line.most->is_estimate);
}

// Rank 0 has the least of both threads, but rank 2 has one thread only, and less.
TEST(GatheredLine, IsNotSureOfTheLeastWhereSomeRanksHaveMoreThreads) {
  const SummaryLine line = line_of(traced({{{1000}, {9000}}, {{5000}, {9500}}, {{3000}}}));
  ASSERT_TRUE(line.least && line.most);
  EXPECT_TRUE(line.least->is_estimate);
  EXPECT_EQ(line.most->rank, 1U);
  EXPECT_EQ(line.most->ns, 14500U);
  EXPECT_FALSE(line.most->is_estimate);
}

TEST(GatheredLine, TakesTimesOfCalls) {
  const trace::Trace trace = traced({{{1}}, {{1}}, {{1}}});
  GatheredLine gathered;
  for (const uint32_t rank : {0, 2}) gathered.add_rank(rank);
  for (const uint32_t rank : {0, 1, 2}) {
    RowTimes times;
    for (const uint64_t ns : {100, 200, 300}) {
      if (rank != 1) times.add(ns * (rank + 1), true);
      times.add(7, false);
    }
    gathered.line.calls += 3;
    gathered.add_times(rank, times);
    gathered.add_durations(times.durations);
    EXPECT_EQ(times.others_ns, 21U);
  }
  gathered.finish(trace);
  const SummaryLine &line = gathered.line;
  ASSERT_TRUE(line.least && line.most && line.percentiles);
  EXPECT_EQ(line.least->rank, 0U);  // rank 1 makes no such call
  EXPECT_EQ(line.least->ns, 600U);
  EXPECT_EQ(line.most->rank, 2U);
  EXPECT_EQ(line.time_ns, 2400U);
  EXPECT_EQ(line.longest_ns, 900U);
  EXPECT_EQ(line.percentiles->median.ns, 300U);  // of 100, 200, 300, 300, 600 and 900
  EXPECT_EQ(line.percentiles->median.error, 0);
}

TEST(GatheredLine, SaysNothingOfTimesThatAreNotKnown) {
  const trace::Trace trace = traced({{{1000}}, {{2000}}});
  GatheredLine gathered;
  gathered.add_rank(0);
  gathered.add_stats(0, trace.row_stats(0, 0));
  gathered.add_stats(0, std::nullopt);
  gathered.finish(trace);
  EXPECT_FALSE(gathered.line.timed || gathered.line.percentiles || gathered.line.least || gathered.line.most);
  EXPECT_EQ(gathered.line.time_ns, 0U);
}

}  // namespace
}  // namespace cairn::analyze
