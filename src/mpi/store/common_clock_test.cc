#include "mpi/store/common_clock.h"

#include <gtest/gtest.h>

namespace cairn::recorder {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(CommonClock, WithoutAComparisonItIsTheRanksOwnWallClock) {
  const CommonClock clock{5 * kSecond, 0, {}, {}};
  const trace::RankClock found = clock.of(3 * kSecond, kSecond);
  EXPECT_EQ(found, (trace::RankClock{8 * kSecond, 0, trace::RankClock::kOwn}));
}

TEST(CommonClock, OneComparisonGivesAnOffset) {
  // Booted 40 s after rank 0's host.
  const CommonClock clock{0, 1000 * kSecond, {true, 10 * kSecond, 40 * kSecond, 700}, {}};
  EXPECT_EQ(clock.of(9 * kSecond, kSecond), (trace::RankClock{1049 * kSecond, 0, 700}));
}

TEST(CommonClock, TwoGiveADrift) {
  // Rank 0's clock gains 10 us a second.
  const CommonClock clock{
      0, 0, {true, 10 * kSecond, 40 * kSecond, 700}, {true, 110 * kSecond, 40 * kSecond + 1'000'000, 900}};
  const trace::RankClock found = clock.of(9 * kSecond, 101 * kSecond);
  EXPECT_EQ(found.begin_unix_ns, 49 * kSecond - 10'000);
  EXPECT_EQ(found.drift_ns, 1'010'000);
  EXPECT_EQ(found.uncertainty_ns, 900);
}

TEST(CommonClock, WhatMayBeNoiseIsNoDrift) {
  const CommonClock clock{0, 0, {true, 10 * kSecond, 5000, 700}, {true, 10 * kSecond + 1'000'000, 6500, 900}};
  EXPECT_EQ(clock.of(1 * kSecond, 10 * kSecond), (trace::RankClock{1 * kSecond + 5000, 0, 900}));
}

}  // namespace
}  // namespace cairn::recorder
