#include "extrapolate/coordinates.h"

#include <gtest/gtest.h>

namespace cairn::extrapolate {
namespace {

using Two = std::array<int64_t, 2>;
using Three = std::array<int64_t, 3>;

TEST(Coordinates, SidesAreAsEqualAsTheyCanBe) {
  EXPECT_EQ(two_sides(16), (Two{4, 4}));
  EXPECT_EQ(two_sides(32), (Two{4, 8}));
  EXPECT_EQ(two_sides(7), (Two{1, 7}));
  EXPECT_EQ(three_sides(64), (Three{4, 4, 4}));
  EXPECT_EQ(three_sides(16), (Three{2, 2, 4}));
  EXPECT_EQ(three_sides(4), (Three{1, 2, 2}));
  EXPECT_EQ(three_sides(13), (Three{1, 1, 13}));
}

TEST(Coordinates, TheFastestSideOfAMeshIsTheShortOneOrTheLongOne) {
  const Coordinates of = Coordinates::of(13, 32, 32);
  EXPECT_EQ(of.tall.columns, 4);
  EXPECT_EQ(of.tall.x, 1);
  EXPECT_EQ(of.tall.y, 3);
  EXPECT_EQ(of.wide.columns, 8);
  EXPECT_EQ(of.wide.x, 5);
  EXPECT_EQ(of.wide.y, 1);
  EXPECT_EQ(of.levels, 5);
  EXPECT_EQ(of.box.sides, (Three{2, 4, 4}));
  EXPECT_EQ(of.box.at, (Three{1, 2, 1}));
}

}  // namespace
}  // namespace cairn::extrapolate
