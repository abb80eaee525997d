#include <gtest/gtest.h>

#include "timing/mode.h"
#include "timing/rank_stats.h"
#include "timing/rank_times.h"

namespace cairn::timing {
namespace {

TEST(Modes, EachKeepsNothingStatisticsOrTimes) {
  for (const Mode &mode : modes()) {
    EXPECT_EQ(mode_named(mode.name), &mode);
    EXPECT_FALSE(mode.statistics && mode.encode != nullptr) << mode.name;
    EXPECT_EQ(keeps_times(mode.name), mode.encode != nullptr) << mode.name;
    if (mode.encode != nullptr) {
      EXPECT_EQ(mode_numbered(mode.number), &mode) << mode.name;
    }
    EXPECT_TRUE(!mode.after || mode.encode != nullptr) << mode.name;
    EXPECT_EQ(mode.bounds == Bounds::none, mode.usual_bound == 0) << mode.name;
  }
  EXPECT_EQ(modes()[0].name, "stats");
  EXPECT_EQ(mode_named("none"), nullptr);
  EXPECT_FALSE(keeps_times("none"));
  EXPECT_TRUE(keeps_times("context:rel=1%"));
  EXPECT_TRUE(keeps_nothing("off"));
  EXPECT_FALSE(keeps_nothing("stats"));
  EXPECT_FALSE(keeps_nothing("none"));
}

TEST(RankTimes, AreMergedByRankAndComeBack) {
  RankTimes left{{1, {1, 2}}, {4, {3}}};
  merge(&left, {{0, {7}}, {3, {8, 9}}});
  ByteWriter out;
  write(left, out);
  const Bytes bytes = out.take();
  ByteReader in(bytes);
  const RankTimes back = parse_rank_times(in);
  EXPECT_TRUE(in.at_end() && !in.failed());
  ASSERT_EQ(back.size(), 4U);
  uint32_t at = 0;
  for (const uint32_t rank : {0U, 1U, 3U, 4U}) EXPECT_EQ(back[at++].rank, rank);
  EXPECT_EQ(*stream_of(back, 3), (Bytes{8, 9}));
  EXPECT_EQ(stream_of(back, 2), nullptr);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    ByteReader shorter(ByteView(bytes).first(cut));
    parse_rank_times(shorter);
    EXPECT_TRUE(shorter.failed()) << cut;
  }
}

TEST(RankTimes, RefusesRanksBeyondAllRanks) {
  ByteWriter out;
  out.varint(2);
  out.varint(UINT32_MAX);
  out.blob(Bytes{1});
  out.varint(0);
  out.blob(Bytes{1});
  const Bytes bytes = out.take();
  ByteReader in(bytes);
  parse_rank_times(in);
  EXPECT_TRUE(in.failed());
}

TEST(Histogram, KeepsOnlyBucketsThatAreUsed) {
  CallStats stats;
  static_assert(sizeof stats <= 64, "a rank that never does the same twice has one for each call");
  for (const size_t number : {40U, 7U, 79U, 40U}) ++stats.histogram[number];
  const CallStats &read = stats;
  EXPECT_EQ(read.histogram[40], 2U);
  EXPECT_EQ(read.histogram[8], 0U);
  ASSERT_EQ(read.histogram.buckets().size(), 3U);
  for (size_t i = 1; i < 3; ++i) EXPECT_LT(read.histogram.buckets()[i - 1].number, read.histogram.buckets()[i].number);
  EXPECT_EQ(RankStats(stats, 3).numbers().calls.histogram.buckets(), read.histogram.buckets());
}

}  // namespace
}  // namespace cairn::timing
