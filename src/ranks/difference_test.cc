// Differences between kinds of ranks that are made up of letters, each of which is a place of its own.
#include "ranks/difference.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "spec/ids.h"

namespace cairn::ranks {
namespace {

using analyze::KindOfRank;
using analyze::LoopItem;

KindOfRank kind_of(const std::string &calls) {
  KindOfRank kind;
  kind.places.resize(26);
  for (uint32_t i = 0; i < 26; ++i) {
    kind.places[i].function = i % 2 == 0 ? spec::function_id::Send : spec::function_id::Recv;
    kind.places[i].position.module = "app";
    kind.places[i].position.file = "a.c";
    kind.places[i].position.line = i + 1;
  }
  std::vector<grammar::Symbol> symbols;
  for (const char letter : calls) symbols.push_back(static_cast<grammar::Symbol>(letter - 'a'));
  kind.items = *analyze::loops_of(grammar::Grammar::from_symbols(symbols));
  const std::function<void(const std::vector<LoopItem> &)> visit = [&](const std::vector<LoopItem> &items) {
    for (const LoopItem &item : items) {
      if (!item.is_loop()) kind.places[item.symbol].visits += item.turns;
      visit(item.body);
    }
  };
  visit(kind.items);
  return kind;
}

std::string times(const std::string &what, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i) result += what;
  return result;
}

std::vector<std::string> told(const std::string &one, const std::string &other) {
  return differences(kind_of(one), kind_of(other), "class 0");
}
using Texts = std::vector<std::string>;

TEST(Difference, TellsCallsOfALoopsTurnsThatOnlyOneMakes) {
  EXPECT_EQ(told("x" + times("abcd", 10) + "y", "x" + times("abd", 10) + "y"),
            (Texts{"makes 1 MPI_Send a turn at a.c:3 that class 0 does not"}));
  EXPECT_EQ(told("x" + times("abd", 10) + "y", "x" + times("abccd", 10) + "y"),
            (Texts{"does not make the 2 MPI_Send a turn at a.c:3 that class 0 makes"}));
  EXPECT_EQ(told("xay", "xy"), (Texts{"makes 1 MPI_Send at a.c:1 that class 0 does not"}));
}

TEST(Difference, TellsTurns) {
  EXPECT_EQ(told("x" + times("ab", 12) + "y", "x" + times("ab", 15) + "y"),
            (Texts{"loop at a.c:1-2 turns 12 times instead of 15"}));
  EXPECT_EQ(told(times("abbbc", 9), times("abbc", 9)), (Texts{"makes 3 MPI_Recv in a row at a.c:2 instead of 2"}));
}

TEST(Difference, TellsOrderWhereTheCallsAreTheSame) {
  EXPECT_EQ(told(times("abc", 8), times("acb", 8)),
            (Texts{"makes MPI_Recv at a.c:2 at another place in the order than class 0"}));
}

// What turns more often, and in another order of turns, is no loop of other calls.
TEST(Difference, IsNeverEmpty) {
  const std::string three = "x" + times("ab", 3);
  const std::string four = "x" + times("ab", 4);
  EXPECT_EQ(told(three + four + four + four, four + four + three + four),
            (Texts{"makes the calls of class 0, in another order"}));
}

TEST(Difference, DistanceIsNothingForTheSameCallsAndOneForOthers) {
  EXPECT_EQ(distance(kind_of("aabbc"), kind_of("cbaba")), 0);
  EXPECT_EQ(distance(kind_of("aab"), kind_of("ccd")), 1);
  EXPECT_LT(distance(kind_of("aaaab"), kind_of("aaab")), distance(kind_of("aaaab"), kind_of("aaaac")));
}

}  // namespace
}  // namespace cairn::ranks
