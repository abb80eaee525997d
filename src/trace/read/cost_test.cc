// What the merge cost: added to a finished file, kept by everything that rewrites it, refused where it cannot be.
#include <gtest/gtest.h>

#include "trace/file/sections.h"
#include "trace/read/edit.h"
#include "trace/read/trace.h"
#include "trace/testing/synthetic.h"

namespace cairn::trace {
namespace {

Bytes file_of(const RunInfo &run) { return *Part::of(stencil_rank(0, 1, 1, 3))->to_file(run); }

MergeCost cost_in(const Bytes &file) {
  const Result<Trace> trace = Trace::from_bytes(file, "test");
  if (!trace) {
    ADD_FAILURE() << trace.error().message;
    return {};
  }
  return trace->run().merge;
}

TEST(MergeCost, IsAddedToAFinishedFile) {
  EXPECT_EQ(cost_in(file_of({})).ranks, 0U);
  const MergeCost read = cost_in(with_merge_cost(file_of({}), {64, 9'000'000'000, 700'000'000}));
  EXPECT_EQ(read.ranks, 64U);
  EXPECT_EQ(read.sum_ns, 9'000'000'000U);
  EXPECT_EQ(read.most_ns, 700'000'000U);
}

TEST(MergeCost, TellsWhatTimesTook) {
  MergeCost cost = {2, 12, 8};
  cost.add({2, 12, 9, {{3, 1000, 500, 77}, 40'000, 2'000}});
  const MergeCost read = cost_in(with_merge_cost(file_of({}), cost));
  EXPECT_EQ(read.ranks, 4U);
  EXPECT_EQ(read.most_ns, 9U);
  EXPECT_EQ(read.times.size.calls, 1000U);
  EXPECT_EQ(read.times.size.bytes, 500U);
  EXPECT_EQ(read.times.size.clock_error_ns, 77U);
  EXPECT_EQ(read.times.coding_ns, 40'000U);
  EXPECT_EQ(read.times.writing_ns, 2'000U);
}

TEST(MergeCost, TellsMemoryWhereItIsMuch) {
  constexpr uint64_t kMib = uint64_t{1} << 20;
  MergeCost cost = {1, 5, 5};
  cost.memory = {2 * kMib, kMib, kMib, 3 * kMib};
  const Bytes small = with_merge_cost(file_of({}), cost);
  EXPECT_EQ(small, with_merge_cost(file_of({}), {1, 5, 5}));
  MergeCost other = {1, 5, 5};
  other.memory = {kMib, 9 * kMib, 4 * kMib, 10 * kMib};
  cost.add(other);
  const Bytes file = with_merge_cost(with_merge_cost(file_of({}), cost), cost);
  const MemoryPeaks read = cost_in(file).memory;
  EXPECT_EQ(read.recorded, 2 * kMib);
  EXPECT_EQ(read.making, 9 * kMib);
  EXPECT_EQ(read.merging, 4 * kMib);
  EXPECT_EQ(read.together, 10 * kMib);
  const Result<Trace> trace = Trace::from_bytes(file, "test");
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(cost_in(*to_part(*trace).to_file(trace->run())).memory.making, 9 * kMib);
  cost.memory.together = 4 * kMib;
  EXPECT_FALSE(Trace::from_bytes(with_merge_cost(file_of({}), cost), "test").has_value());
}

TEST(MergeCost, IsReplacedNotRepeated) {
  const Bytes file = with_merge_cost(with_merge_cost(file_of({}), {1, 5, 5}), {2, 12, 8});
  EXPECT_EQ(cost_in(file).most_ns, 8U);
}

TEST(MergeCost, IsKeptWhenTheFileIsRewritten) {
  const Bytes file = with_merge_cost(file_of({}), {2, 12, 8});
  const Result<Trace> trace = Trace::from_bytes(file, "test");
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(cost_in(with_sources(*trace, {})).sum_ns, 12U);
  EXPECT_EQ(cost_in(*to_part(*trace).to_file(trace->run())).sum_ns, 12U);
}

TEST(MergeCost, ImpossibleTimesAreRefused) {
  const MergeCost impossible[] = {{2, 10, 11}, {2, 100, 3}, {uint64_t{1} << 40, 10, 10}};
  for (const MergeCost &cost : impossible) {
    EXPECT_FALSE(Trace::from_bytes(with_merge_cost(file_of({}), cost), "test").has_value()) << cost.ranks;
  }
}

}  // namespace
}  // namespace cairn::trace
