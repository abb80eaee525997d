#include "cairn/gpu/pool.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace cairn::gpu {
namespace {

TEST(Pool, GivesPartsThatDoNotOverlapAndTakesThemBack) {
  Pool pool(1 << 20);
  std::mt19937 draw(1);
  std::vector<std::pair<uint64_t, uint64_t>> held;
  for (int i = 0; i < 10'000; ++i) {
    if (held.empty() || draw() % 3 != 0) {
      const uint64_t bytes = 1 + draw() % 20'000;
      const uint64_t largest = pool.largest();
      const uint64_t at = pool.take(bytes);
      EXPECT_EQ(at != Pool::kNone, Pool::aligned(bytes) <= largest);
      if (at == Pool::kNone) continue;
      EXPECT_EQ(at % Pool::kAlignment, 0U);
      EXPECT_LE(at + bytes, uint64_t{1} << 20);
      for (const auto &[other, size] : held) EXPECT_TRUE(at + bytes <= other || other + size <= at);
      held.emplace_back(at, bytes);
    } else {
      const size_t which = draw() % held.size();
      pool.give(held[which].first);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  for (const auto &each : held) pool.give(each.first);
  EXPECT_TRUE(pool.is_unused());
  EXPECT_EQ(pool.largest(), uint64_t{1} << 20);  // in one piece again
  EXPECT_EQ(pool.left(), uint64_t{1} << 20);
}

TEST(Pool, OfNothingGivesNothing) {
  Pool pool(0);
  EXPECT_EQ(pool.take(1), Pool::kNone);
  EXPECT_EQ(pool.largest(), 0U);
}

constexpr uint64_t kWhole = 1 << 22;

TEST(WordsOfALaunch, LeaveSomeForTheNext) {
  uint64_t left = kWhole;
  int launches = 0;
  for (;; ++launches) {
    const uint64_t words = words_for({8, left, kWhole, 100, launches == 0});
    if (words == 0) break;
    ASSERT_LE(words, left);
    left -= words;
  }
  EXPECT_GT(launches, 20);             // though the first took a quarter
  EXPECT_LT(left, 8 * kLeastForEach);  // and nothing is left lying
}

TEST(WordsOfALaunch, AreTwiceWhatWasSeen) {
  EXPECT_EQ(words_for({8, kWhole, kWhole, kWhole / 3, true}), kWhole / 3 * 2);
  EXPECT_EQ(words_for({8, kWhole / 2, kWhole, kWhole / 3, false}), 0U);         // it waits
  EXPECT_EQ(words_for({8, kWhole / 2, kWhole, kWhole / 3, true}), kWhole / 2);  // there will not be more
}

TEST(WordsOfALaunch, OfAKernelThatWasNotSeenAreMany) {
  EXPECT_EQ(words_for({100, kWhole, kWhole, 0, true}), kWhole / 4);
  EXPECT_EQ(words_for({100, 150'000, kWhole, 0, false}), 102'400U);
  EXPECT_EQ(words_for({100, 100'000, kWhole, 0, false}), 0U);
  EXPECT_EQ(words_for({100, 1000, kWhole, 0, true}), 0U);  // not even a few for each warp
}

}  // namespace
}  // namespace cairn::gpu
