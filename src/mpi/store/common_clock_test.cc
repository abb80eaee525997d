#include "mpi/store/common_clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "mpi/store/clock.h"

namespace cairn::recorder {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(CommonClock, WithoutAComparisonItIsTheRanksOwnWallClock) {
  const CommonClock clock{5 * kSecond, 0, {}, {}};
  const trace::RankClock found = clock.of(3 * kSecond, kSecond, 40);
  EXPECT_EQ(found, (trace::RankClock{8 * kSecond, 0, trace::RankClock::kOwn}));
}

TEST(CommonClock, OneComparisonGivesAnOffset) {
  // Booted 40 s after rank 0's host.
  const CommonClock clock{0, 1000 * kSecond, {true, 10 * kSecond, 40 * kSecond, 700}, {}};
  EXPECT_EQ(clock.of(9 * kSecond, kSecond, 0), (trace::RankClock{1049 * kSecond, 0, 700}));
}

TEST(CommonClock, WhatARankDoesNotKnowOfItsOwnClockCounts) {
  const CommonClock one{0, 0, {true, 10 * kSecond, 0, 0}, {}};
  EXPECT_EQ(one.of(9 * kSecond, kSecond, 40), (trace::RankClock{9 * kSecond, 0, 40}));
  const CommonClock apart{0, 0, {true, 10 * kSecond, 5000, 700}, {}};
  EXPECT_EQ(apart.of(9 * kSecond, kSecond, 40), (trace::RankClock{9 * kSecond + 5000, 0, 740}));
}

TEST(CommonClock, TwoGiveADrift) {
  // Rank 0's clock gains 10 us a second.
  const CommonClock clock{
      0, 0, {true, 10 * kSecond, 40 * kSecond, 700}, {true, 110 * kSecond, 40 * kSecond + 1'000'000, 900}};
  const trace::RankClock found = clock.of(9 * kSecond, 101 * kSecond, 0);
  EXPECT_EQ(found.begin_unix_ns, 49 * kSecond - 10'000);
  EXPECT_EQ(found.drift_ns, 1'010'000);
  EXPECT_EQ(found.uncertainty_ns, 900);
}

TEST(CommonClock, WhatMayBeNoiseIsNoDrift) {
  const CommonClock clock{0, 0, {true, 10 * kSecond, 5000, 700}, {true, 10 * kSecond + 1'000'000, 6500, 900}};
  EXPECT_EQ(clock.of(1 * kSecond, 10 * kSecond, 0), (trace::RankClock{1 * kSecond + 5000, 0, 900}));
}

/// What is read between two readings of CLOCK_MONOTONIC is told between them, or as far off as the clock says.
TEST(CalibratedClock, IsOffByNoMoreThanItSays) {
  CalibratedClock clock;
  clock.start();
  struct Moment {
    uint64_t before;
    uint64_t ticks;
    uint64_t after;
  };
  std::vector<Moment> moments;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 100; ++i) {
      const uint64_t before = Clock::monotonic();
      const uint64_t ticks = clock.clock().ticks();
      moments.push_back({before, ticks, Clock::monotonic()});
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (round % 5 == 4) clock.calibrate();
  }
  const uint64_t off = clock.uncertainty(moments.back().ticks);
  EXPECT_EQ(off != 0, clock.clock().counts());
  for (const Moment &moment : moments) {
    const uint64_t told = clock.clock().origin() + clock.clock().at(moment.ticks);
    ASSERT_GE(told + off, moment.before);
    ASSERT_LE(told, moment.after + off);
  }
  const uint64_t now = clock.clock().ticks();
  EXPECT_EQ(clock.clock().counts(), clock.uncertainty(now + 1'000'000'000'000) > 1000 * off)
      << "nobody knows what comes";
}

}  // namespace
}  // namespace cairn::recorder
