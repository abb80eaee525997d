// What is made of the cells of a matrix: pairs, distances, symmetry, blocks, pictures.
#include "traffic/matrix.h"

#include <gtest/gtest.h>

#include "traffic/picture.h"

namespace cairn::traffic {
namespace {

Cell cell(uint32_t from, uint32_t to, uint64_t messages, uint64_t bytes, Kind kind = Kind::message) {
  return {from, to, kind, {messages, bytes, 0}};
}

TEST(Matrix, AddsUpKindsAndGroupsOfAPair) {
  Matrix matrix;
  matrix.groups = {{"a", {cell(0, 1, 1, 10), cell(0, 1, 2, 20, Kind::onesided), cell(2, 0, 1, 1)}},
                   {"b", {cell(0, 1, 4, 40), cell(1, 0, 1, 5)}}};
  const std::vector<Cell> pairs = pairs_of(matrix);
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_EQ(pairs[0].amount.messages, 7U);
  EXPECT_EQ(pairs[0].amount.bytes, 70U);
  EXPECT_EQ(pairs[1].from, 1U);
  EXPECT_EQ(pairs[2].from, 2U);
}

TEST(Matrix, AmountsStayAtTheGreatestNumber) {
  Amount amount;
  amount.add(1, 8, UINT64_MAX / 2);
  EXPECT_EQ(amount.messages, 1U);
  EXPECT_EQ(amount.bytes, UINT64_MAX);
  amount.add(UINT64_MAX, std::nullopt, 1);
  EXPECT_EQ(amount.messages, UINT64_MAX);
  EXPECT_EQ(amount.unsized, UINT64_MAX);
}

TEST(Matrix, TellsDistances) {
  const std::vector<Distance> far = distances_of({cell(0, 3, 1, 10), cell(3, 0, 2, 5), cell(1, 1, 1, 1)});
  ASSERT_EQ(far.size(), 2U);
  EXPECT_EQ(far[0].ranks, 0U);
  EXPECT_EQ(far[1].ranks, 3U);
  EXPECT_EQ(far[1].amount.messages, 3U);
}

TEST(Matrix, TellsWhatComesBack) {
  const Symmetry symmetry = symmetry_of(
      {cell(0, 0, 9, 9), cell(0, 1, 1, 10), cell(1, 0, 1, 10), cell(1, 2, 1, 7), cell(2, 1, 1, 3), cell(3, 2, 1, 4)});
  EXPECT_EQ(symmetry.pairs, 3U);
  EXPECT_EQ(symmetry.both, 2U);
  EXPECT_EQ(symmetry.equal, 1U);
  EXPECT_EQ(symmetry.bytes, 34U);
  EXPECT_EQ(symmetry.returned, 26U);
}

TEST(Matrix, MakesBlocksOfRanks) {
  const Blocks blocks = blocks_of({cell(0, 9, 1, 10), cell(1, 8, 1, 5), cell(9, 0, 2, 1)}, 10, 4, false);
  EXPECT_EQ(blocks.size, 3U);
  EXPECT_EQ(blocks.count, 4U);
  EXPECT_EQ(blocks.values[2], 5U);
  EXPECT_EQ(blocks.values[3], 10U);
  EXPECT_EQ(blocks.values[12], 1U);
  EXPECT_EQ(blocks.most, 10U);
  EXPECT_EQ(blocks.least, 1U);
}

TEST(Matrix, ShadesAreFactorsOfTwoAtLeast) {
  constexpr uint32_t kLevels = 9;
  const Blocks near = blocks_of({cell(0, 1, 1, 1000), cell(1, 0, 1, 990)}, 2, 4, false);
  EXPECT_EQ(level_of(near, 1000, kLevels), kLevels);
  EXPECT_EQ(level_of(near, 990, kLevels), kLevels);
  EXPECT_EQ(level_of(near, 0, kLevels), 0U);
  const Blocks far = blocks_of({cell(0, 1, 1, uint64_t{1} << 40), cell(1, 0, 1, 1)}, 2, 4, false);
  EXPECT_EQ(level_of(far, 1, kLevels), 1U);
  EXPECT_EQ(level_of(far, uint64_t{1} << 40, kLevels), kLevels);
  for (uint32_t level = 2; level <= kLevels; ++level) {
    const uint64_t least = least_of_level(far, level, kLevels);
    EXPECT_EQ(level_of(far, least, kLevels), level);
    EXPECT_EQ(level_of(far, least - 1, kLevels), level - 1);
  }
}

TEST(Picture, HasARectangleForEqualNeighbours) {
  const Blocks blocks = blocks_of({cell(0, 1, 1, 8), cell(0, 2, 1, 8)}, 3, 8, false);
  const std::string svg = svg_of(blocks, 3, "<a&b>", "bytes");
  EXPECT_NE(svg.find("&lt;a&amp;b&gt;"), std::string::npos);
  EXPECT_NE(svg.find("width=\"426\" height=\"213\" fill=\"#08306b\""), std::string::npos) << svg;
  EXPECT_EQ(svg, svg_of(blocks, 3, "<a&b>", "bytes"));
}

TEST(Picture, IsAPng) {
  const auto png = png_of(blocks_of({cell(0, 1, 1, 8)}, 2, 8, false));
  ASSERT_TRUE(png.has_value());
  EXPECT_EQ(std::string(png->begin() + 1, png->begin() + 4), "PNG");
  // Of nothing, too.
  EXPECT_TRUE(png_of(blocks_of({}, 2, 8, false)).has_value());
}

}  // namespace
}  // namespace cairn::traffic
