// Ranks that do the same in other orders are told as one; those that do other things are not.
#include "analyze/alike_kinds.h"

#include <gtest/gtest.h>

#include <random>

#include "spec/spec.h"
#include "trace/merge/part.h"
#include "trace/read/trace.h"

namespace cairn::analyze {
namespace {

constexpr int kSteps = 200;

/// Each step begins with a call at site 1 and makes some at sites 2 and 3, in any order; or at 2 and 4.
trace::ProcessRecord rank_of(uint32_t rank, uint32_t ranks, bool other, uint64_t *calls) {
  std::mt19937_64 random(rank);
  std::vector<Bytes> rows;
  for (uint32_t site = 1; site <= 4; ++site) {
    trace::Row row;
    row.function = spec::find_function(site == 1 ? "MPI_Barrier" : "MPI_Wtime")->id;
    row.site = site;
    row.fields = {{false, {0}, {}}};  // what it gives; a barrier has a communicator, too
    if (site == 1) row.fields.push_back(row.fields[0]);
    ByteWriter out;
    pack_row(row, out);
    rows.push_back(out.take());
  }
  std::vector<grammar::Symbol> symbols;
  for (int step = 0; step < kSteps; ++step) {
    symbols.push_back(0);
    for (size_t i = 1 + random() % 3; i > 0; --i) symbols.push_back(random() % 2 == 0 ? 1 : other ? 3 : 2);
    symbols.push_back(1);
    symbols.push_back(other ? 3 : 2);
  }
  *calls += symbols.size();
  trace::SequenceRecord sequence;
  sequence.calls = grammar::Grammar::from_symbols(symbols);
  sequence.rows = rows;
  sequence.sites = {{}, {0, 1000, 0}, {0, 2000, 0}, {0, 3000, 0}, {0, 4000, 0}};
  trace::ProcessRecord process;
  process.rank = rank;
  process.size = ranks;
  process.modules.push_back({{1, 2, 3}, "program"});
  process.sequences.push_back(std::move(sequence));
  return process;
}

TEST(AlikeKinds, OtherOrdersAreOneKindOtherCallsAreNot) {
  constexpr uint32_t kRanks = 7;
  constexpr uint32_t kOthers = 2;
  uint64_t calls = 0;
  uint64_t calls_of_others = 0;
  std::optional<trace::Part> all;
  for (uint32_t rank = 0; rank < kRanks + kOthers; ++rank) {
    const bool other = rank >= kRanks;
    auto part = trace::Part::of(rank_of(rank, kRanks + kOthers, other, other ? &calls_of_others : &calls));
    ASSERT_TRUE(part.has_value());
    all = all ? *trace::Part::merge(*std::move(all), *std::move(part)) : *std::move(part);
  }
  const trace::Trace trace = *trace::Trace::from_bytes(*all->to_file({}), "test");
  const Sources sources(trace);
  const LoopFinder finder(trace, sources);
  Filter filter;
  for (uint32_t rank = 0; rank < kRanks + kOthers; ++rank) filter.ranks.push_back(rank);
  filter.all_ranks = true;
  std::vector<KindOfRank> kinds = finder.kinds(filter);
  ASSERT_EQ(kinds.size(), kRanks + kOthers);
  double least = 1e9;
  double most = 0;
  for (KindOfRank &kind : kinds) {
    ASSERT_TRUE(finder.find(&kind).has_value());
    if (kind.ranks.front() < kRanks) least = std::min(least, kind.all.calls);
    if (kind.ranks.front() < kRanks) most = std::max(most, kind.all.calls);
  }
  const std::vector<AlikeKinds> joined = join_alike(std::move(kinds));
  ASSERT_EQ(joined.size(), 2U);
  const AlikeKinds &first = joined[0];
  EXPECT_EQ(first.kinds, kRanks);
  EXPECT_EQ(first.kind.ranks, (std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_NEAR(first.kind.all.calls, static_cast<double>(calls), 0.5);
  EXPECT_NEAR(joined[1].kind.all.calls, static_cast<double>(calls_of_others), 0.5);
  EXPECT_EQ(first.least_calls, least);
  EXPECT_EQ(first.most_calls, most);
  // The steps, all of them of all ranks.
  const auto step = std::find_if(first.kind.all.body.begin(), first.kind.all.body.end(),
                                 [](const Loop &loop) { return loop.is_step; });
  ASSERT_NE(step, first.kind.all.body.end());
  EXPECT_LE(step->item->most, static_cast<uint64_t>(kSteps));
  EXPECT_GE(step->item->least, static_cast<uint64_t>(kSteps - 2));
  EXPECT_GE(step->calls, 0.98 * static_cast<double>(calls));
}

}  // namespace
}  // namespace cairn::analyze
