#include "blocks/place.h"

#include <gtest/gtest.h>

#include <barrier>
#include <random>
#include <thread>
#include <vector>

namespace cairn::blocks {
namespace {

/// Ranks as threads: a sum over all, and over those below.
struct Ranks {
  explicit Ranks(int count) : barrier(count), values(static_cast<size_t>(count)) {}
  std::barrier<> barrier;
  std::vector<std::vector<uint64_t>> values;
};
struct Rank {
  Ranks *all;
  size_t number;
};

bool sum(void *context, uint64_t *values, int count) {
  auto *rank = static_cast<Rank *>(context);
  rank->all->values[rank->number].assign(values, values + count);
  rank->all->barrier.arrive_and_wait();
  for (int i = 0; i < count; ++i) {
    values[i] = 0;
    for (const auto &each : rank->all->values) values[i] += each[static_cast<size_t>(i)];
  }
  rank->all->barrier.arrive_and_wait();
  return true;
}

bool sum_below(void *context, uint64_t value, uint64_t *below) {
  auto *rank = static_cast<Rank *>(context);
  rank->all->values[rank->number] = {value};
  rank->all->barrier.arrive_and_wait();
  *below = 0;
  for (size_t i = 0; i < rank->number; ++i) *below += rank->all->values[i][0];
  rank->all->barrier.arrive_and_wait();
  return true;
}

std::vector<DensePlace> place_all(uint64_t base, const std::vector<uint64_t> &sizes, uint64_t alignment) {
  Ranks ranks(static_cast<int>(sizes.size()));
  std::vector<DensePlace> places(sizes.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < sizes.size(); ++i) {
    threads.emplace_back([&, i] {
      Rank rank{&ranks, i};
      const Calls calls{&rank, static_cast<int>(i), sum, sum_below, nullptr};
      places[i] = place_dense(calls, base, sizes[i], alignment).value();
    });
  }
  for (std::thread &thread : threads) thread.join();
  return places;
}

TEST(Dense, LeavesNoGap) {
  const std::vector<uint64_t> sizes = {10, 0, 35, 7};
  const std::vector<DensePlace> places = place_all(100, sizes, 0);
  EXPECT_EQ(places[0].begin, 100U);
  EXPECT_EQ(places[1].begin, 110U);
  EXPECT_EQ(places[2].begin, 110U);
  EXPECT_EQ(places[3].begin, 145U);
  for (const DensePlace &place : places) EXPECT_EQ(place.end, 152U);
}

TEST(Dense, RanksWithStripesBeginAtOne) {
  const std::vector<uint64_t> sizes = {10, 150, 64, 20};
  const std::vector<DensePlace> places = place_all(100, sizes, 64);
  EXPECT_EQ(places[1].begin, 128U);
  EXPECT_EQ(places[2].begin, 128U + 192);
  EXPECT_EQ(places[0].begin, 128U + 192 + 64);
  EXPECT_EQ(places[3].begin, places[0].begin + 10);
  EXPECT_EQ(places[3].end, places[3].begin + 20);
}

TEST(Extents, NoTwoRanksShareAByte) {
  constexpr int kRanks = 5;
  constexpr uint64_t kBase = 1000;
  constexpr uint64_t kSize = 64;
  std::mt19937 random(1);
  std::vector<int> owner(200000, -1);
  uint64_t last = kBase;
  for (int rank = 0; rank < kRanks; ++rank) {
    Extents extents(kBase, kSize, rank, kRanks);
    EXPECT_EQ(extents.end(), kBase);
    uint64_t end = kBase;
    for (int i = 0; i < 200; ++i) {
      const uint64_t bytes = 1 + random() % kSize;
      const uint64_t begin = extents.take(bytes);
      ASSERT_GE(begin, kBase);
      for (uint64_t at = begin; at < begin + bytes; ++at) {
        ASSERT_EQ(owner[at], -1);
        owner[at] = rank;
      }
      end = std::max(end, begin + bytes);
    }
    EXPECT_EQ(extents.end(), end);
    last = std::max(last, end);
  }
  EXPECT_LE(last, owner.size());
}

TEST(Extents, WhatWasBegunIsUsedUpAfterAMove) {
  Extents extents(1000, 100, 1, 3);
  EXPECT_EQ(extents.take(60), 1100U);
  EXPECT_EQ(extents.reserved(), 1300U);
  extents.move(5000);
  EXPECT_EQ(extents.take(40), 1160U);
  EXPECT_EQ(extents.take(1), 5100U);
  EXPECT_EQ(extents.reserved(), 5300U);
}

TEST(Extents, HaveRoomForWhatIsExpected) {
  EXPECT_EQ(extent_size(1 << 20, 1, 0), 4U << 20);
  const uint64_t size = extent_size(1 << 20, 1.35, 0.05);
  EXPECT_GE(size, 4 * 806597U);
  EXPECT_LE(size, 4 * 806597U + 4096);
  EXPECT_EQ(extent_size(1 << 20, 0.5, 0.7), 64U << 20);  // nonsense is bounded
}

}  // namespace
}  // namespace cairn::blocks
