#include "trace/read/steps.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn::trace {
namespace {

using grammar::Grammar;
using grammar::Symbol;

/// The steps of calls that are letters, with bars between them: "..|abc|abc|..".
std::string steps(const std::string &calls, const std::string &begins = "") {
  std::vector<Symbol> symbols(calls.begin(), calls.end());
  const auto found =
      begins.empty() ? steps_of(Grammar::from_symbols(symbols), symbols) : steps_at(symbols, [&](Symbol symbol) {
        return begins.find(static_cast<char>(symbol)) != std::string::npos;
      });
  std::string text;
  uint64_t at = 0;
  for (uint64_t i = 0; i < found.count(); ++i) {
    const Step step = found.at(i);
    for (const uint64_t place : {step.begin, step.end - 1}) EXPECT_EQ(found.of(place), i);
    EXPECT_GE(step.begin, at);
    text += std::string(step.begin - at, '.') + "|" + calls.substr(step.begin, step.end - step.begin);
    at = step.end;
  }
  return found.empty() ? "none" : text + "|" + std::string(calls.size() - at, '.');
}

std::string times(int count, const std::string &what) {
  std::string text;
  for (int i = 0; i < count; ++i) text += what;
  return text;
}

TEST(Steps, AreTheTurnsOfTheMainLoop) {
  EXPECT_EQ(steps("xyabcabcabcz"), "..|abc|abc|abc|.");
  // Not those of a shorter loop beside it.
  EXPECT_EQ(steps("iiiiabcdabcdabcdf"), "....|abcd|abcd|abcd|.");
}

TEST(Steps, KeepAnExchangeWithEachNeighbourWhole) {
  EXPECT_EQ(steps("x" + times(5, "srsrsrw") + "z"), "." + times(5, "|srsrsrw") + "|.");
}

TEST(Steps, AreThoseWithinAPeriod) {
  const std::string period = times(9, "abcd") + "p";
  EXPECT_EQ(steps("x" + times(4, period) + "z"),
            "." + times(3, times(8, "|abcd") + "|abcdp") + times(9, "|abcd") + "|..");
}

TEST(Steps, GoOnAfterACallInBetween) {
  EXPECT_EQ(steps("x" + times(6, "abcd") + "e" + times(8, "abcd") + "z"),
            "." + times(5, "|abcd") + "|abcde" + times(8, "|abcd") + "|.");
  // A turn that goes another way is one, too.
  EXPECT_EQ(steps("x" + times(6, "abcd") + "abed" + times(8, "abcd") + "z"),
            "." + times(6, "|abcd") + "|abed" + times(8, "|abcd") + "|.");
}

TEST(Steps, MayLackSomethingTheLastTime) {
  EXPECT_EQ(steps("x" + times(6, "abcd") + "abcz"), "." + times(6, "|abcd") + "|abc|.");
  // The first time, then: each begins where the first of them does.
  EXPECT_EQ(steps("bcd" + times(6, "abcd") + "z"), times(6, "|bcda") + "|bcd|.");
}

TEST(Steps, AreAsManyAsThereAre) {
  const auto rules = [](uint64_t count) {
    // x (ab)^count e (ab)^count
    return *Grammar::from_rules(
        {{{'x', false, 1}, {1, true, count}, {'e', false, 1}, {1, true, count}}, {{'a', false, 1}, {'b', false, 1}}});
  };
  const uint64_t many = uint64_t{1} << 40;
  const Steps found = steps_of(rules(many), {});
  EXPECT_EQ(found.count(), 2 * many);
  EXPECT_EQ(found.at(many).begin, 2 * many + 2);
  EXPECT_EQ(found.of(2 * many + 1), many - 1);  // what stands between belongs to the one before
  EXPECT_EQ(found.of(2 * many + 2), many);
  EXPECT_EQ(found.of(0), std::nullopt);
  EXPECT_EQ(found.covered(), 4 * many + 1);
}

TEST(Steps, BeginWhereTheUserSays) {
  EXPECT_EQ(steps("xyabcabcdabcz", "a"), "..|abc|abcd|abcz|");
  EXPECT_EQ(steps("xyabc", "q"), "none");
}

TEST(Steps, NeedARepetition) {
  EXPECT_EQ(steps("abcdef"), "none");
  EXPECT_EQ(steps(""), "none");
}

}  // namespace
}  // namespace cairn::trace
