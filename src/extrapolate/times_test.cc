#include "extrapolate/times.h"

#include <gtest/gtest.h>

namespace cairn::extrapolate {
namespace {

Curve through(const std::vector<double> &values, double *residual) {
  return Curve::through({4, 16, 64}, values, residual);
}

TEST(Curve, TakesTheShapeThatTheMeansHave) {
  double residual = 1;
  EXPECT_NEAR(through({100, 100, 100}, &residual).at(256), 100, 1e-6);
  EXPECT_NEAR(residual, 0, 1e-9);
  EXPECT_NEAR(through({120, 140, 160}, &residual).at(256), 180, 1e-6) << "log2";
  EXPECT_NEAR(through({1040, 1160, 1640}, &residual).at(256), 3560, 1e-6) << "the ranks";
  EXPECT_NEAR(through({1000, 500, 250}, &residual).at(256), 125, 1e-6) << "an inverse root";
  EXPECT_NEAR(residual, 0, 1e-9);
}

TEST(Curve, IsNeverNegativeAndSaysHowFarItIsOff) {
  double residual = 0;
  const Curve curve = through({900, 100, 400}, &residual);
  EXPECT_GE(curve.at(1e6), 0);
  EXPECT_GT(residual, 0.1);
}

TEST(Curve, OfTwoRunsIsNoMoreThanALineThroughLog2) {
  double residual = 0;
  const Curve curve = Curve::through({4, 16}, {100, 1600}, &residual);
  EXPECT_LE(curve.shape, 1);
}

}  // namespace
}  // namespace cairn::extrapolate
