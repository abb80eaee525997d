#include "timing/rank_stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace cairn::timing {
namespace {

CallStats calls_of(uint64_t nanoseconds) {
  CallStats stats;
  stats.count = 1;
  stats.sum = stats.minimum = stats.maximum = nanoseconds;
  ++stats.histogram[static_cast<size_t>(CallStats::bucket(nanoseconds))];
  return stats;
}

/// Those from `first` on, before `last`, merged in a tree of some shape.
RankStats merged(const std::vector<uint64_t> &sums, size_t first, size_t last, std::mt19937 &random) {
  if (last - first == 1) return {calls_of(sums[first]), static_cast<uint32_t>(first)};
  const size_t middle = first + 1 + random() % (last - first - 1);
  RankStats left = merged(sums, first, middle, random);
  RankStats right = merged(sums, middle, last, random);
  RankStats &into = random() % 2 == 0 ? left : right;
  into.merge(&into == &left ? right : left);
  return into;
}

RankStats read_back(const RankStats &stats, size_t *bytes = nullptr) {
  ByteWriter out;
  stats.write(out, 0);
  const Bytes written = out.take();
  ByteReader in(written);
  RankStats back = RankStats::parse(in, 0);
  EXPECT_TRUE(in.at_end() && !in.failed());
  if (bytes != nullptr) *bytes = written.size();
  return back;
}

TEST(RankStats, BucketsThatWouldNotFitStayAtTheGreatestNumber) {
  CallStats stats = calls_of(1);
  stats.histogram[2] = 1;
  stats.histogram[5] = uint64_t{1} << 62;
  RankStats twice(stats, 0);
  twice.merge(RankStats(stats, 1));
  EXPECT_EQ(twice.numbers().calls.histogram[5], UINT64_MAX >> 1);
  stats.histogram[5] = UINT64_MAX;
  EXPECT_EQ(RankStats(stats, 0).numbers().calls.histogram[5], UINT64_MAX >> 1);
}

TEST(RankStats, NameTheSameRanksWhateverTheTree) {
  std::mt19937 random(3);
  for (const uint64_t spread : {1, 3, 1000000}) {
    for (size_t ranks = 1; ranks <= 20; ++ranks) {
      std::vector<uint64_t> sums(ranks);
      for (uint64_t &sum : sums) sum = 1000 + random() % spread;
      const auto least = std::min_element(sums.begin(), sums.end());
      const auto greatest = std::max_element(sums.begin(), sums.end());
      const RankStats first = merged(sums, 0, ranks, random);
      for (int i = 0; i < 10; ++i) {
        const RankStats stats = merged(sums, 0, ranks, random);
        EXPECT_EQ(stats, first);
        EXPECT_EQ(stats.numbers().least_rank, least - sums.begin());  // the lowest of equals
        EXPECT_EQ(stats.numbers().greatest_rank, greatest - sums.begin());
        EXPECT_EQ(stats.numbers().least_sum, *least);
        EXPECT_EQ(stats.numbers().greatest_sum, *greatest);
      }
      EXPECT_EQ(read_back(first), first);
    }
  }
}

TEST(RankStats, ComeBackWithAnySumsAndRanks) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 1000; ++i) {
    RankStats stats;
    const size_t ranks = 1 + random() % 6;
    for (size_t rank = 0; rank < ranks; ++rank) {
      // Two of such sums may be more than 64 bits hold.
      const uint64_t sum = random() % 4 == 0 ? UINT64_MAX - random() % 2 : random() >> (random() % 64);
      stats.merge(RankStats(calls_of(sum), static_cast<uint32_t>(random())));
    }
    EXPECT_EQ(read_back(stats), stats);
  }
}

// Of two and three ranks the squares follow from the sums, and of more, most of them.
TEST(RankStats, SayLittleThatIsImplied) {
  size_t bytes = 0;
  RankStats stats;
  for (uint32_t rank = 0; rank < 3; ++rank) {
    stats.merge(RankStats(calls_of(1000000 + 1000 * rank), rank));
    if (rank == 0) continue;
    EXPECT_EQ(read_back(stats, &bytes), stats);
  }
  EXPECT_LE(bytes, 22U);
}

TEST(RankStats, AddTheirCallsToOthers) {
  RankStats several(calls_of(30), 5);
  several.merge(RankStats(calls_of(900), 2));
  for (const RankStats &stats : {RankStats(), RankStats(calls_of(12), 5), several}) {
    CallStats added = calls_of(31);
    stats.add_to(&added);
    CallStats merged = calls_of(31);
    merged.merge(stats.numbers().calls);
    EXPECT_EQ(added, merged);
  }
}

}  // namespace
}  // namespace cairn::timing
