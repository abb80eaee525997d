#include "analyze/loop_tree.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace cairn::analyze {
namespace {

using grammar::Grammar;
using grammar::Symbol;

std::string text(const std::vector<LoopItem> &items) {
  std::string result;
  for (const LoopItem &item : items) {
    if (!result.empty()) result += ' ';
    const std::string what =
        item.is_loop() ? "(" + text(item.body) + ")" : std::string(1, static_cast<char>(item.symbol));
    result += what;
    if (item.is_loop() || item.most > 1) result += std::to_string(item.least);
    if (item.most != item.least) result += "-" + std::to_string(item.most);
  }
  return result;
}

std::string loops(const std::string &calls) {
  return text(*loops_of(Grammar::from_symbols(std::vector<Symbol>(calls.begin(), calls.end()))));
}

std::string times(const std::string &what, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i) result += what;
  return result;
}

TEST(LoopTree, FindsALoopAndWhatStandsAroundIt) {
  EXPECT_EQ(loops("ib" + times("srw", 50) + "f"), "i b (s r w)50 f");
  EXPECT_EQ(loops("i" + times("x" + times("sr", 4) + "a", 10) + "f"), "i (x (s r)4 a)10 f");
  EXPECT_EQ(loops("abcdef"), "a b c d e f");
  EXPECT_EQ(loops(""), "");
  EXPECT_EQ(loops("aaaa"), "a4");
}

// What the grammar takes for the loop's begin is not where it begins.
TEST(LoopTree, BeginsALoopAsEarlyAsItCan) {
  for (const char *rotated : {"abc", "bca", "cab"}) {
    const std::string turn = rotated;
    const std::string all = "ab" + times("cab", 9) + "c";
    EXPECT_EQ(loops(all), "(a b c)10");
    EXPECT_EQ(loops("x" + all + "y" + times(turn, 3)).substr(0, 13), "x (a b c)10 y");
  }
  const Grammar grammar = *Grammar::from_rules({{{'a'}, {'b'}, {1, true, 9}, {'c'}}, {{'c'}, {'a'}, {'b'}}});
  EXPECT_EQ(text(*loops_of(grammar)), "(a b c)10");
  const Grammar twice =
      *Grammar::from_rules({{{'x'}, {2, true, 3}, {'y'}}, {{'c'}, {'a'}, {'b'}}, {{'b'}, {1, true, 4}, {'c'}, {'a'}}});
  EXPECT_EQ(text(*loops_of(twice)), "x (b c a)15 y");
}

// The grammar's turns begin in the middle of what the program's end and begin with.
TEST(LoopTree, PutsTogetherWhatTurnsEndAndBeginWith) {
  const Grammar two =
      *Grammar::from_rules({{{'i'}, {1, true, 9}, {'f'}}, {{2, true, 19}, {'a'}, {2, true, 1}}, {{'s'}, {'r'}}});
  EXPECT_EQ(text(*loops_of(two)), "i ((s r)19-20 a)9 s r f");
  const Grammar three =
      *Grammar::from_rules({{{2, true, 1}, {1, true, 300}, {2, true, 19}, {'a'}},
                            {{2, true, 19}, {'a'}, {2, true, 20}, {'a'}, {2, true, 20}, {'a'}, {2, true, 1}},
                            {{'s'}, {'r'}}});
  EXPECT_EQ(text(*loops_of(three)), "((s r)20 a)901");
}

TEST(LoopTree, LoopsAreTheSameWhateverTheirTurns) {
  std::string all;
  for (size_t i = 0; i < 12; ++i) all += "x" + times("s", 1 + i % 3) + times("rw", 2 + i % 2) + "a";
  EXPECT_EQ(loops("i" + all + "f"), "i (x s1-3 (r w)2-3 a)12 f");
}

TEST(LoopTree, WhatIsDoneOnceBeforeIsNoPartOfALoop) {
  EXPECT_EQ(loops("i" + times("ab", 6)), "i (a b)6");
  EXPECT_EQ(loops("ia" + times("ab", 6)), "i a (a b)6");
  EXPECT_EQ(loops("iaa" + times("abc", 6)), "i a2 (a b c)6");
}

TEST(LoopTree, AStepThatIsLongerNowAndThenIsALoopOfLoops) {
  EXPECT_EQ(loops(times(times("sra", 10) + "p", 6)), "((s r a)10 p)6");
  EXPECT_EQ(loops(times("srapsra", 1) + times("sra", 0)), "s r a p s r a");
}

TEST(LoopTree, CountsWhatIsInside) {
  const auto items = loops_of(Grammar::from_symbols([] {
    const std::string all = times("x" + times("sr", 4), 5) + "x" + times("sr", 6);
    return std::vector<Symbol>(all.begin(), all.end());
  }()));
  ASSERT_EQ(items->size(), 1U);
  const LoopItem &outer = (*items)[0];
  EXPECT_EQ(outer.turns, 6U);
  const LoopItem &inner = outer.body[1];
  EXPECT_EQ(inner.times, 6U);
  EXPECT_EQ(inner.turns, 26U);
  EXPECT_EQ(inner.least, 4U);
  EXPECT_EQ(inner.most, 6U);
  EXPECT_EQ(inner.body[0].turns, 26U);
}

void count(const std::vector<LoopItem> &items, std::map<uint32_t, uint64_t> *counts) {
  for (const LoopItem &item : items) {
    if (!item.is_loop()) (*counts)[item.symbol] += item.turns;
    count(item.body, counts);
  }
}

void expand(const std::vector<LoopItem> &items, bool *exact, std::string *all) {
  for (const LoopItem &item : items) {
    *exact = *exact && item.least == item.most;
    for (uint64_t i = 0; i < item.least; ++i) {
      if (item.is_loop()) {
        expand(item.body, exact, all);
      } else {
        *all += static_cast<char>(item.symbol);
      }
    }
  }
}

TEST(LoopTree, IsTheWholeSequence) {
  std::mt19937 random(7);
  int exactly = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string calls;
    const size_t length = 1 + random() % 60;
    while (calls.size() < length) {
      std::string part;
      for (size_t i = 1 + random() % 4; i > 0; --i) part += static_cast<char>('a' + random() % 3);
      calls += times(part, 1 + random() % 5);
    }
    if (round % 2 == 0) calls = times(calls, 1 + random() % 4);
    const auto items = *loops_of(Grammar::from_symbols(std::vector<Symbol>(calls.begin(), calls.end())));
    std::map<uint32_t, uint64_t> counts;
    count(items, &counts);
    std::map<uint32_t, uint64_t> wanted;
    for (const char each : calls) ++wanted[static_cast<uint32_t>(each)];
    ASSERT_EQ(counts, wanted) << calls << ": " << text(items);
    bool exact = true;
    std::string all;
    expand(items, &exact, &all);
    if (!exact) continue;
    ++exactly;
    ASSERT_EQ(all, calls) << text(items);
  }
  EXPECT_GT(exactly, 500);
}

TEST(LoopTree, AMillionTurnsCostOne) {
  const Grammar grammar =
      *Grammar::from_rules({{{'i'}, {1, true, 1'000'000'000}}, {{'a'}, {2, true, 1'000}}, {{'s'}, {'r'}}});
  EXPECT_EQ(text(*loops_of(grammar, 10)), "i (a (s r)1000)1000000000");
  std::string irregular;
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) irregular += static_cast<char>('a' + random() % 20);
  EXPECT_FALSE(loops_of(Grammar::from_symbols(std::vector<Symbol>(irregular.begin(), irregular.end())), 500));
}

}  // namespace
}  // namespace cairn::analyze
