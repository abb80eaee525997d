// PollWord: the polls between two calls as cycles with counts, exactly, and the same however they were put together.
#include "trace/model/poll_word.h"

#include <gtest/gtest.h>

#include <random>

namespace cairn::trace {
namespace {

std::vector<uint32_t> expanded(const PollWord &word) {
  std::vector<uint32_t> rows;
  for (const PollWord::Term &term : word.terms()) {
    EXPECT_LE(term.rows.size(), PollWord::kLongestCycle);
    for (uint64_t i = 0; i < term.count; ++i) rows.insert(rows.end(), term.rows.begin(), term.rows.end());
  }
  return rows;
}

PollWord of(const std::vector<uint32_t> &rows) {
  PollWord word;
  for (const uint32_t row : rows) EXPECT_TRUE(word.append(row, 1));
  return word;
}

TEST(PollWord, EqualOnesAndCyclesAreOneTerm) {
  PollWord equal;
  ASSERT_TRUE(equal.append(7, 1'000'000'000));
  ASSERT_TRUE(equal.append(7, 5));
  EXPECT_EQ(equal.terms(), (std::vector<PollWord::Term>{{{7}, 1'000'000'005}}));

  for (uint32_t length = 2; length <= PollWord::kLongestCycle; ++length) {
    PollWord cycle;
    for (uint32_t i = 0; i < 5 * length + 1; ++i) ASSERT_TRUE(cycle.append(i % length, 1));
    ASSERT_EQ(cycle.terms().size(), 2U) << length;
    EXPECT_EQ(cycle.terms()[0].rows.size(), length);
    EXPECT_EQ(cycle.terms()[0].count, 5U);
    EXPECT_EQ(cycle.terms()[1], (PollWord::Term{{0}, 1}));
  }
  PollWord longer;
  for (uint32_t i = 0; i < 100; ++i) ASSERT_TRUE(longer.append(i % (PollWord::kLongestCycle + 1), 1));
  EXPECT_EQ(longer.terms().size(), 100U);
}

TEST(PollWord, TheSameHoweverItIsPutTogether) {
  std::mt19937 generator(3);
  const auto random = [&generator] { return static_cast<uint32_t>(generator()); };
  for (int round = 0; round < 3000; ++round) {
    // Pieces as a grammar has them: words, repeated.
    PollWord whole;
    std::vector<uint32_t> rows;
    const uint32_t kinds = 1 + random() % 3;
    for (uint32_t piece = 1 + random() % 5; piece > 0; --piece) {
      std::vector<uint32_t> part(1 + random() % 7);
      for (uint32_t &row : part) row = random() % kinds;
      const uint64_t times = random() % 3 == 0 ? random() % 40 : 1;
      if (random() % 2 == 0) {
        ASSERT_TRUE(whole.append(of(part), times));
        for (uint64_t i = 0; i < times; ++i) rows.insert(rows.end(), part.begin(), part.end());
      } else {
        ASSERT_TRUE(whole.append(part[0], times));
        rows.insert(rows.end(), times, part[0]);
      }
    }
    ASSERT_EQ(expanded(whole), rows);
    ASSERT_EQ(whole, of(rows));
  }
}

TEST(PollWord, RepetitionsCostTheSameHoweverMany) {
  PollWord loop;
  ASSERT_TRUE(loop.append(of({1, 2, 3}), 1'000'000'000'000));
  EXPECT_EQ(loop.terms(), (std::vector<PollWord::Term>{{{1, 2, 3}, 1'000'000'000'000}}));
  PollWord after;
  ASSERT_TRUE(after.append(3, 1));
  ASSERT_TRUE(after.append(of({1, 2, 3}), 1'000'000));
  EXPECT_EQ(after.terms().size(), 2U);
  uint64_t calls = 0;
  for (const PollWord::Term &term : after.terms()) calls += term.rows.size() * term.count;
  EXPECT_EQ(calls, 3'000'001U);
}

TEST(PollWord, GivesUpOnWhatIsTooLong) {
  PollWord word;
  std::mt19937 random(4);
  bool good = true;
  for (size_t i = 0; good && i < 3 * PollWord::kMostTerms; ++i) good = word.append(static_cast<uint32_t>(random()), 1);
  EXPECT_FALSE(good);
  PollWord twice;
  ASSERT_TRUE(twice.append(1, uint64_t{1} << 61));
  EXPECT_FALSE(twice.append(twice, 4));
}

}  // namespace
}  // namespace cairn::trace
