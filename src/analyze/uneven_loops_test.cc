#include "analyze/uneven_loops.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace cairn::analyze {
namespace {

using grammar::Symbol;

std::string text(const std::vector<LoopItem> &items) {
  std::string result;
  for (const LoopItem &item : items) {
    if (!result.empty()) result += ' ';
    result += item.is_loop() ? "(" + text(item.body) + ")" : std::string(1, static_cast<char>(item.symbol));
    if (item.is_loop() || item.most != 1 || item.least != 1) result += std::to_string(item.least);
    if (item.most != item.least) result += "-" + std::to_string(item.most);
  }
  return result;
}

std::string loops(const std::string &calls) {
  const auto found = uneven_loops(std::vector<Symbol>(calls.begin(), calls.end()));
  return found ? text(*found) : "nothing";
}

void count(const std::vector<LoopItem> &items, std::map<uint32_t, uint64_t> *counts) {
  for (const LoopItem &item : items) {
    if (!item.is_loop()) (*counts)[item.symbol] += item.turns;
    count(item.body, counts);
  }
}

// Four receives, four sends, a test; and where that fails a wait.
TEST(UnevenLoops, FindStepsThatChoose) {
  std::mt19937 random(7);
  std::string calls = "ibc";
  for (int step = 0; step < 100; ++step) calls += std::string("rrrrsssst") + (random() % 3 == 0 ? "w" : "");
  EXPECT_EQ(loops(calls + "f"), "i b c (r4 s4 t w0-1)100 f");
}

// What comes is taken in any order, some at a time; at the end of a step all meet.
TEST(UnevenLoops, AreNotThePollsInThem) {
  std::mt19937 random(7);
  std::string calls = "i";
  for (int step = 0; step < 50; ++step) {
    calls += "p";
    for (int left = 12; left > 0; --left) {
      calls += "t";
      if (random() % 2 == 0) calls += "uvw"[random() % 3];
    }
    calls += "m";
  }
  const std::string found = loops(calls + "f");
  EXPECT_EQ(found.substr(0, 7), "i (p t1") << found;
  EXPECT_NE(found.find(" m)50 f"), std::string::npos) << found;
}

TEST(UnevenLoops, AreFoundOneBehindTheOther) {
  std::mt19937 random(7);
  std::string calls;
  for (int step = 0; step < 60; ++step) calls += std::string("ab") + (random() % 2 == 0 ? "c" : "") + "d";
  for (int step = 0; step < 60; ++step) calls += std::string("xy") + (random() % 2 == 0 ? "z" : "") + "v";
  EXPECT_EQ(loops(calls), "(a b c0-1 d)60 (x y z0-1 v)60");
}

TEST(UnevenLoops, AreNoneWhereNothingComesBack) {
  std::string calls;
  for (char each = 'a'; each <= 'z'; ++each) calls += each;
  EXPECT_EQ(loops(calls), "nothing");
  EXPECT_EQ(loops(""), "nothing");
  EXPECT_EQ(loops("aaaaaaa"), "nothing");
}

TEST(UnevenLoops, HaveAllCalls) {
  std::mt19937 random(7);
  int found = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string calls;
    const size_t length = 1 + random() % 300;
    while (calls.size() < length)
      calls += random() % 4 == 0 ? "ab" : std::string(1, static_cast<char>('a' + random() % 5));
    const auto items = uneven_loops(std::vector<Symbol>(calls.begin(), calls.end()));
    if (!items) continue;
    ++found;
    std::map<uint32_t, uint64_t> counts;
    count(*items, &counts);
    std::map<uint32_t, uint64_t> wanted;
    for (const char each : calls) ++wanted[static_cast<uint32_t>(each)];
    ASSERT_EQ(counts, wanted) << calls << ": " << text(*items);
  }
  EXPECT_GT(found, 500);
}

}  // namespace
}  // namespace cairn::analyze
