#include "arrays/file/intervals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>

namespace cairn::arrays {
namespace {

TEST(Intervals, FindsThoseThatMeetARequestWhileMoreAreAdded) {
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    Intervals intervals;
    std::vector<Interval> all;
    while (all.size() < 300) {
      std::vector<Interval> added;
      for (uint64_t i = random() % 4 == 0 ? random() % 40 : 1; i > 0; --i) {
        const uint64_t begin = random() % 1000;
        added.push_back({begin, begin + 1 + random() % (random() % 10 == 0 ? 500 : 20), all.size() + added.size()});
      }
      all.insert(all.end(), added.begin(), added.end());
      intervals.add(added);
      const uint64_t begin = random() % 1200;
      const uint64_t end = begin + 1 + random() % 50;
      std::vector<size_t> found;
      intervals.find(begin, end, &found);
      std::ranges::sort(found);
      std::vector<size_t> expected;
      for (const Interval &each : all) {
        if (each.begin < end && each.end > begin) expected.push_back(each.number);
      }
      ASSERT_EQ(found, expected);
    }
  }
}

/// One that reaches over all of them, as a fill does, must not make each question a walk over all before it.
TEST(Intervals, AskingAfterEachAdditionStaysCheap) {
  constexpr uint64_t kCount = 100000;
  Intervals intervals;
  intervals.add({{0, kCount * 4, kCount}});
  const auto begin = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < kCount; ++i) {
    const uint64_t at = i * 7919 % kCount * 4;
    intervals.add({{at, at + 4, i}});
    std::vector<size_t> found;
    intervals.find(at, at + 4, &found);
    ASSERT_EQ(found.size(), 2U);
  }
  // 0.1 s; sorting or walking each time takes minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace cairn::arrays
