#include "base/in_order.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace cairn {
namespace {

TEST(InOrder, UsesEachOnceInItsOrderHoweverManyThreads) {
  for (const size_t threads : {1U, 2U, 3U, 16U}) {
    for (const size_t count : {0U, 1U, 2U, 7U, 1000U}) {
      std::vector<std::atomic<int>> calls(count);
      std::vector<size_t> seen;
      const bool all = in_order(
          count,
          [&](size_t i) {
            ++calls[i];
            if (i % 7 == 0) std::this_thread::yield();
            return std::make_unique<size_t>(i * i);
          },
          [&](size_t i, const std::unique_ptr<size_t> &made) {
            EXPECT_EQ(*made, i * i);
            seen.push_back(i);
            return true;
          },
          threads);
      EXPECT_TRUE(all);
      ASSERT_EQ(seen.size(), count);
      for (size_t i = 0; i < count; ++i) {
        EXPECT_EQ(seen[i], i);
        EXPECT_EQ(calls[i], 1);
      }
    }
  }
}

TEST(InOrder, MakesLittleBeforeItIsUsed) {
  std::atomic<size_t> made{0};
  size_t used = 0;
  constexpr size_t kThreads = 3;
  in_order(
      200, [&](size_t) { return ++made; },
      [&](size_t, size_t) {
        // This one is used, two a thread wait, and each thread is at one more at most.
        EXPECT_LE(made, ++used + 2 * kThreads);
        return true;
      },
      kThreads);
  EXPECT_EQ(made, 200U);
}

TEST(InOrder, StopsWhereToldTo) {
  std::atomic<size_t> made{0};
  const bool all = in_order(
      100'000, [&](size_t) { return ++made; }, [&](size_t i, size_t) { return i != 10; }, 4);
  EXPECT_FALSE(all);
  EXPECT_LE(made, 11U + 8U);
}

TEST(InOrder, ThrowsWhatWasThrownInItsPlace) {
  std::vector<size_t> seen;
  const auto run = [&] {
    in_order(
        100,
        [&](size_t i) {
          if (i == 20) throw std::runtime_error("20");
          return i;
        },
        [&](size_t, size_t made) {
          seen.push_back(made);
          return true;
        },
        4);
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_EQ(seen.size(), 20U);
}

TEST(InOrder, WorksAtTheSameTime) {
  // Each waits for the other.
  std::atomic<int> here{0};
  in_order(
      2,
      [&](size_t) {
        ++here;
        while (here < 2) std::this_thread::yield();
        return 0;
      },
      [](size_t, int) { return true; }, 2);
  EXPECT_EQ(here, 2);
}

}  // namespace
}  // namespace cairn
