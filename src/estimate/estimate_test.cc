// Laws found in numbers that follow one.
#include "estimate/estimate.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cairn::estimate {
namespace {

TEST(Guess, FindsTheLawOfThree) {
  const auto by = [](double (*of)(double)) {
    return guess({{4, of(4)}, {8, of(8)}, {16, of(16)}}, 1024, Law::constant);
  };
  const Guess linear = by([](double x) { return 100 + 20 * x; });
  EXPECT_EQ(linear.law, Law::linear);
  EXPECT_NEAR(linear.value, 20580, 1e-6);
  EXPECT_LE(linear.least, linear.value);
  const Guess logarithm = by([](double x) { return 100 + 50 * std::log2(x); });
  EXPECT_EQ(logarithm.law, Law::logarithmic);
  EXPECT_NEAR(logarithm.value, 600, 1e-6);
  const Guess root = by([](double x) { return 30 * std::sqrt(x); });
  EXPECT_EQ(root.law, Law::root);
  EXPECT_NEAR(root.value, 960, 1e-6);
}

TEST(Guess, OfTwoTheLikelyLawIsTakenAndItsNeighboursAreTheRange) {
  const Guess found = guess({{4, 100}, {8, 150}}, 16, Law::logarithmic);
  EXPECT_NEAR(found.value, 200, 1e-9);
  EXPECT_NEAR(found.least, 150, 1e-9);
  EXPECT_NEAR(found.most, 100 + 50 * 2 / (std::sqrt(8) - 2), 1e-9);
  EXPECT_NEAR(guess({{4, 100}, {8, 150}}, 16, Law::linear).value, 250, 1e-9);
}

TEST(Guess, WhatIsTheSameOrShrinksIsConstant) {
  for (const double last : {100.0, 90.0}) {
    const Guess found = guess({{4, 100}, {8, last}}, 1e6, Law::linear);
    EXPECT_EQ(found.law, Law::constant);
    EXPECT_EQ(found.value, last);
    EXPECT_EQ(found.least, found.most);
  }
}

}  // namespace
}  // namespace cairn::estimate
