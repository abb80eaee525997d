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

bool any(Symbol /*call*/) { return true; }

std::string loops(const std::string &calls, const ShowsTurns &shows = any) {
  const auto found = uneven_loops(std::vector<Symbol>(calls.begin(), calls.end()), shows);
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

// Before the loop a part of a step is made once, as here an exchange and a barrier.
TEST(UnevenLoops, DoNotBeginBeforeThem) {
  std::mt19937 random(7);
  std::string steps;
  for (int step = 0; step < 60; ++step) steps += std::string("rrsswa") + (random() % 2 == 0 ? "t" : "") + "cddm";
  EXPECT_EQ(loops("i"
                  "rrssw"
                  "b" +
                  steps + "f"),
            "i r2 s2 w b (r2 s2 w a t0-1 c d2 m)60 f");
  // A first step that makes a call more is one.
  EXPECT_EQ(loops("i"
                  "rrssw"
                  "b"
                  "acddm" +
                  steps + "f")
                .substr(0, 3),
            "i (");
  EXPECT_NE(loops("i"
                  "rrsswacd"
                  "b"
                  "dm" +
                  steps + "f")
                .find(")61 f"),
            std::string::npos);
}

// Time is asked for between all that is done.
TEST(UnevenLoops, DoNotBeginWithWhatOnlyTells) {
  std::mt19937 random(7);
  std::string calls;
  for (int step = 0; step < 50; ++step) {
    for (const char each : std::string("rsw")) {
      calls += "t";
      calls.append(1 + random() % 2, each);
    }
    calls += std::string("ta") + (random() % 2 == 0 ? "b" : "");
  }
  const std::string found = loops(calls, [](Symbol call) { return call != 't'; });
  EXPECT_NE(found.find(")50"), std::string::npos) << found;
  EXPECT_EQ(found.find(")50"), found.find(')')) << found;
}

TEST(UnevenLoops, TellEnoughWhereFewLoopsHaveMostCalls) {
  const auto items = [](const std::string &calls) { return loops_of(std::vector<Symbol>(calls.begin(), calls.end())); };
  const std::string once = "ABCDEFGHIJKLMNOPQRSTUVW";
  std::string steps;
  for (int step = 0; step < 20; ++step) steps += "abcd";
  EXPECT_TRUE(tells_enough(items("ABCD")));
  EXPECT_TRUE(tells_enough(items(once + steps)));
  std::string much;
  for (char each = 1; each <= 96; ++each) much += each;
  EXPECT_FALSE(tells_enough(items(much + steps)));
  std::string many;
  for (char each = 'A'; each <= 'W'; ++each) many += std::string("abcdabcd") + each;
  EXPECT_FALSE(tells_enough(items(many)));
}

// An iteration makes the same exchange many times, with something else between some of them.
TEST(UnevenLoops, AreNotPartsOfSteps) {
  std::string calls;
  for (char each = 'A'; each <= 'W'; ++each) calls += each;
  for (const int iterations : {2, 50, 50}) {
    for (int i = 0; i < iterations; ++i) calls += "rswmrswrswrswmrswrswdrswrswc";
    calls += "t";
  }
  const std::vector<Symbol> all(calls.begin(), calls.end());
  const auto found = or_uneven_loops(loops_of(all), all, any);
  const std::string told = text(found);
  EXPECT_NE(told.find("2-50"), std::string::npos) << told;
  EXPECT_EQ(told.find("0-1"), std::string::npos) << told;
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
    const auto items = uneven_loops(std::vector<Symbol>(calls.begin(), calls.end()), any);
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
