#include "trace/read/steps.h"

#include <gtest/gtest.h>

#include "trace/testing/synthetic.h"

namespace cairn::trace {
namespace {

std::optional<Steps> steps(std::vector<grammar::Body> rules) {
  return steps_of(*grammar::Grammar::from_rules(std::move(rules)));
}

TEST(Steps, AreTheTurnsOfTheLargestOuterLoop) {
  // 0 1 (2 3 4^5)^10 1 6^7: seven turns of one row are fewer than ten of seven.
  const auto found = steps({{{0}, {1}, {1, true, 10}, {1}, {6, false, 7}}, {{2}, {3}, {4, false, 5}}});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->first, 2U);
  EXPECT_EQ(found->length, 7U);
  EXPECT_EQ(found->count(), 10U);
  EXPECT_EQ(found->of(1), std::nullopt);
  EXPECT_EQ(found->of(2), 0U);
  EXPECT_EQ(found->of(8), 0U);
  EXPECT_EQ(found->of(9), 1U);
  EXPECT_EQ(found->of(71), 9U);
  EXPECT_EQ(found->of(72), std::nullopt);
}

TEST(Steps, AreFoundInRulesThatStandOnce) {
  // 0 R1, and R1 is 5 R2, and R2 is (7 8)^4; R1 stands twice: the first of equal ones counts.
  const auto found = steps({{{0}, {1, true}, {9}, {1, true}}, {{5}, {2, true}}, {{3, true, 4}}, {{7}, {8}}});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->first, 2U);
  EXPECT_EQ(found->length, 2U);
  EXPECT_EQ(found->count(), 4U);
}

TEST(Steps, MayLackSomethingTheFirstAndTheLastTime) {
  // 0 4 5 (2 3 4 5)^6 2 3 4 9: of the first turn half is there, of the last more.
  const auto found = steps({{{0}, {4}, {5}, {1, true, 6}, {2}, {3}, {4}, {9}}, {{2}, {3}, {4}, {5}}});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->count(), 7U);
  EXPECT_EQ(found->of(2), std::nullopt);
  EXPECT_EQ(found->of(3), 0U);
  EXPECT_EQ(found->of(27), 6U);
  EXPECT_EQ(found->of(29), 6U);
  EXPECT_EQ(found->of(30), std::nullopt);
  // 3 4 5 (2 3 4 5)^6 2: and now the other way round.
  const auto turned = steps({{{3}, {4}, {5}, {1, true, 6}, {2}}, {{2}, {3}, {4}, {5}}});
  ASSERT_TRUE(turned.has_value());
  EXPECT_EQ(turned->count(), 7U);
  EXPECT_EQ(turned->of(0), 0U);
  EXPECT_EQ(turned->of(3), 1U);
  EXPECT_EQ(turned->of(26), 6U);
  EXPECT_EQ(turned->of(27), std::nullopt);
}

TEST(Steps, NeedARepetition) {
  EXPECT_EQ(steps({{{0}, {1}, {2}}}), std::nullopt);
  EXPECT_EQ(steps_of(grammar::Grammar()), std::nullopt);
}

}  // namespace
}  // namespace cairn::trace
