#include "base/seldom.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace cairn {
namespace {

TEST(Seldom, TakesAPointerWhereItIsEmpty) {
  const Seldom<std::string> none;
  EXPECT_EQ(sizeof none, sizeof(void *));
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.size(), 0U);
  EXPECT_EQ(none.begin(), none.end());
  EXPECT_EQ(none, Seldom<std::string>());
}

TEST(Seldom, HoldsWhatAVectorHolds) {
  Seldom<std::string> some;
  some.reserve(0);
  EXPECT_TRUE(some.empty());
  some.reserve(3);
  some.push_back("one");
  EXPECT_EQ(some.emplace_back(3, 'x'), "xxx");
  EXPECT_EQ(some.back(), "xxx");
  EXPECT_EQ(std::vector<std::string>(some.begin(), some.end()), (std::vector<std::string>{"one", "xxx"}));
  some.begin()[0] = "other";
  EXPECT_EQ(some[0], "other");
  const std::vector<std::string> others = {"a", "b", "c"};
  some.assign(others.begin(), others.end());
  EXPECT_EQ(some.size(), 3U);
  some.assign(others.begin(), others.begin());
  EXPECT_TRUE(some.empty());
}

TEST(Seldom, ACopyIsItsOwn) {
  Seldom<int> one;
  one.push_back(1);
  Seldom<int> other = one;
  EXPECT_EQ(one, other);
  other.push_back(2);
  EXPECT_NE(one, other);
  EXPECT_EQ(one.size(), 1U);
  const Seldom<int> moved = std::move(other);
  EXPECT_EQ(moved.size(), 2U);
  one.clear();
  EXPECT_EQ(one, Seldom<int>());
}

}  // namespace
}  // namespace cairn
