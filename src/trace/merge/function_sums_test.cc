#include "trace/merge/function_sums.h"

#include <gtest/gtest.h>

#include <random>

namespace cairn::trace {
namespace {

ProcessRecord process(const std::vector<std::pair<uint32_t, uint64_t>> &calls) {
  ProcessRecord record;
  SequenceRecord sequence;
  for (const auto &[function, ns] : calls) {
    Row row;
    row.function = function;
    ByteWriter packed;
    pack_row(row, packed);
    sequence.rows.push_back(packed.take());
    timing::CallStats stats;
    stats.count = 1;
    stats.sum = ns;
    sequence.stats.push_back(stats);
  }
  record.sequences.push_back(sequence);
  return record;
}

std::optional<FunctionSums> reread(const FunctionSums &sums, uint64_t ranks) {
  ByteWriter out;
  sums.write_rounded(out, ranks);
  const Bytes bytes = out.take();
  ByteReader in(bytes);
  return FunctionSums::parse_rounded(in, ranks);
}

TEST(FunctionSums, AreOfAllSignaturesOfAFunctionAndMerged) {
  FunctionSums sums(process({{7, 100}, {9, 5}, {7, 20}}));
  EXPECT_EQ(sums.at(7, 0), 120U);
  EXPECT_EQ(sums.at(9, 0), 5U);
  EXPECT_EQ(sums.at(8, 0), std::nullopt);
  // Rank 1 stands between ranks 0 and 2.
  RankSet even(0);
  const RankSet two(2);
  const std::optional<Interleave> apart = Interleave::of(even, two);
  ASSERT_TRUE(apart);
  sums.merge(FunctionSums(process({{8, 3}})), 1, 1, *apart);
  even = apart->merged(std::move(even), two);
  const std::optional<Interleave> order = Interleave::of(even, RankSet(1));
  ASSERT_TRUE(order);
  sums.merge(FunctionSums(process({{7, 1}})), 2, 1, *order);
  const uint64_t expected[3][3] = {{120, 1, 0}, {0, 0, 3}, {5, 0, 0}};
  for (uint32_t function = 7; function < 10; ++function) {
    for (uint64_t rank = 0; rank < 3; ++rank) EXPECT_EQ(sums.at(function, rank), expected[function - 7][rank]);
  }
  const RankSet all = order->merged(even, RankSet(1));
  sums.add(FunctionSums(process({{9, 1000}, {6, 2}})), all, two);
  EXPECT_EQ(sums.at(9, 2), 1000U);
  EXPECT_EQ(sums.at(9, 0), 5U);
  EXPECT_EQ(sums.at(6, 2), 2U);
  EXPECT_EQ(sums.at(6, 1), 0U);
}

TEST(FunctionSums, AreWithinAFiftyThousandthInAFileAndStaySoWhenWrittenAgain) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t sum = i == 0 ? INT64_MAX : random() >> (1 + random() % 63);
    const std::optional<FunctionSums> read = reread(FunctionSums(process({{1, sum}})), 1);
    ASSERT_TRUE(read);
    const uint64_t got = *read->at(1, 0);
    if (sum < 65536) {
      EXPECT_EQ(got, sum);
    } else {
      EXPECT_NEAR(static_cast<double>(got), static_cast<double>(sum), 2e-5 * static_cast<double>(sum));
    }
    const std::optional<FunctionSums> again = reread(*read, 1);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->at(1, 0), got);
  }
}

TEST(FunctionSums, TakeNoMoreThanTheyMay) {
  constexpr uint32_t kRanks = 20000;
  constexpr uint32_t kFunctions = 30;
  std::mt19937_64 random(2);
  std::vector<std::pair<uint32_t, uint64_t>> calls;
  FunctionSums sums;
  RankSet ranks;
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    calls.clear();
    for (uint32_t function = 0; function < kFunctions; ++function)
      calls.emplace_back(function, (random() >> 30) * (function + 1));
    if (rank == 0) {
      sums = FunctionSums(process(calls));
      ranks = RankSet(0);
      continue;
    }
    const std::optional<Interleave> order = Interleave::of(ranks, RankSet(rank));
    ASSERT_TRUE(order);
    sums.merge(FunctionSums(process(calls)), rank, 1, *order);
    ranks = order->merged(std::move(ranks), RankSet(rank));
  }
  ByteWriter out;
  sums.write_rounded(out, kRanks);
  EXPECT_LE(out.view().size(), (64U << 10) + 8 * kRanks + 200);
  const std::optional<FunctionSums> read = reread(sums, kRanks);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->columns().contains(kFunctions - 1));
  EXPECT_FALSE(read->columns().contains(0));
}

TEST(FunctionSums, WhatCannotBeIsRefused) {
  ByteWriter out;
  out.varint(1);
  out.varint(5);
  FoldColumn::constant(-3, 2).write(out);
  const Bytes negative = out.take();
  ByteReader in(negative);
  EXPECT_FALSE(FunctionSums::parse_rounded(in, 2));
  ByteReader again(negative);
  EXPECT_FALSE(FunctionSums::parse(again, 2));
  ByteReader shorter(negative);
  EXPECT_FALSE(FunctionSums::parse(shorter, 3));
}

}  // namespace
}  // namespace cairn::trace
