#include "mpi/names/ranges.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace cairn::recorder {
namespace {

struct RangesTest : testing::Test {
  std::vector<uint64_t> memory = std::vector<uint64_t>(1 << 20);
  Arena arena{memory.data(), memory.size() * sizeof(uint64_t)};
};

TEST_F(RangesTest, FindsByContainment) {
  Ranges ranges(arena);
  ASSERT_NE(ranges.add(100, 200), nullptr);
  ASSERT_NE(ranges.add(300, 400), nullptr);
  EXPECT_EQ(ranges.containing(99), nullptr);
  EXPECT_EQ(ranges.containing(100)->number, 0);
  EXPECT_EQ(ranges.containing(199)->number, 0);
  EXPECT_EQ(ranges.containing(200), nullptr);
  EXPECT_EQ(ranges.containing(350)->number, 1);
  EXPECT_EQ(ranges.first_above(0)->low, 100U);
  EXPECT_EQ(ranges.first_above(199)->low, 100U);
  EXPECT_EQ(ranges.first_above(200)->low, 300U);
  EXPECT_EQ(ranges.first_above(400), nullptr);
}

TEST_F(RangesTest, GivesTheLowestFreeNumber) {
  Ranges ranges(arena);
  for (uintptr_t i = 0; i < 200; ++i) EXPECT_EQ(ranges.add(i * 16, i * 16 + 16)->number, static_cast<int64_t>(i));
  EXPECT_TRUE(ranges.remove(16 * 130));
  EXPECT_TRUE(ranges.remove(16 * 7));
  EXPECT_FALSE(ranges.remove(16 * 7));
  EXPECT_EQ(ranges.add(100000, 100001)->number, 7);
  EXPECT_EQ(ranges.add(200000, 200001)->number, 130);
  EXPECT_EQ(ranges.add(300000, 300001)->number, 200);
}

TEST_F(RangesTest, AddingReplacesWhatItOverlaps) {
  Ranges ranges(arena);
  ranges.add(100, 200);
  ranges.add(200, 300);
  ranges.add(300, 400);
  EXPECT_EQ(ranges.add(150, 250)->number, 0);
  EXPECT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges.containing(120), nullptr);
  EXPECT_EQ(ranges.containing(260), nullptr);
  EXPECT_EQ(ranges.containing(300)->number, 2);
  EXPECT_EQ(ranges.add(500, 500)->high, 501U) << "an empty range still has an address";
}

TEST_F(RangesTest, AgreesWithAMap) {
  Ranges ranges(arena);
  std::map<uintptr_t, int64_t> expected;
  std::mt19937 random(7);
  for (int step = 0; step < 100000; ++step) {
    const uintptr_t low = random() % 3000 * 10;
    if (random() % 2 == 0) {
      const int64_t number = ranges.add(low, low + 10)->number;
      expected.erase(low);
      for (const auto &[other, taken] : expected) ASSERT_NE(number, taken);
      expected[low] = number;
      if (step > 2000) step += 20;  // the check above is what takes time
    } else {
      ASSERT_EQ(ranges.remove(low), expected.erase(low) == 1);
    }
    const uintptr_t probe = random() % 30000;
    const Range *found = ranges.containing(probe);
    const auto known = expected.find(probe / 10 * 10);
    ASSERT_EQ(found != nullptr, known != expected.end());
    if (found != nullptr) {
      ASSERT_EQ(found->number, known->second);
    }
  }
  EXPECT_EQ(ranges.size(), expected.size());
}

TEST_F(RangesTest, DegradesWithoutMemory) {
  Arena small(memory.data(), 1024);
  Ranges ranges(small);
  int added = 0;
  for (uintptr_t i = 1; i < 100; ++i) added += ranges.add(i * 16, i * 16 + 16) != nullptr ? 1 : 0;
  EXPECT_GT(added, 0);
  EXPECT_LT(added, 99);
  EXPECT_NE(ranges.containing(16), nullptr);
  EXPECT_EQ(ranges.containing(99 * 16), nullptr);
}

}  // namespace
}  // namespace cairn::recorder
