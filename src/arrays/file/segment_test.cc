#include "arrays/file/segment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "arrays/testing/made_block.h"

namespace cairn::arrays {
namespace {

/// Boxes and lists of boxes of all kinds, among them the same shape again and again.
std::vector<Block> random_blocks(uint32_t seed, size_t count) {
  std::mt19937 random(seed);
  std::vector<Block> blocks;
  for (uint64_t i = 1; i <= count; ++i) {
    Block block = block_at(random() % 5000, 4 * (1 + random() % 3), i * (1 + random() % 3));
    for (uint64_t level = random() % 3; level > 0; --level)
      (void)block.regions[0].repeat(1 + random() % 3, block.regions[0].end() - block.regions[0].offset + 4);
    for (uint64_t more = random() % 4 == 0 ? random() % 9 : 0; more > 0; --more) {
      Region next = block.regions[0];
      next.offset = block.end() + 4 * (random() % 2);
      block.regions.push_back(next);
    }
    block.element = codec::Element::f32;
    block.shape = {block.bytes() / 4};
    block.codec = static_cast<uint8_t>(random() % 4);
    block.at_home = random() % 5 == 0;
    block.replaced = random() % 7 == 0;
    if (random() % 6 == 0 && block.sequence > 1) block.reference = 1 + random() % (block.sequence - 1);
    block.size = block.at_home ? 1 : random() % 3000;
    block.offset = random() % 100'000;
    blocks.push_back(std::move(block));
  }
  return blocks;
}

TEST(Columns, AreReadAsTheyWereWritten) {
  for (const size_t count : {0, 1, 2, 300}) {
    const std::vector<Block> blocks = random_blocks(1, count);
    const Result<std::vector<Block>> read = unpack_columns(pack_columns(each_of(blocks)));
    ASSERT_TRUE(read.has_value());
    ASSERT_EQ(read->size(), count);
    for (size_t i = 0; i < count; ++i) expect_equal((*read)[i], blocks[i]);
  }
}

TEST(Columns, OfARegularGridAreLittleMoreThanChecksumsAndSizes) {
  std::mt19937_64 random(2);
  std::vector<Block> blocks;
  uint64_t end = 0;
  constexpr uint64_t kSide = 16;
  for (uint64_t i = 0; i < kSide * kSide * kSide; ++i) {
    const uint64_t corner = (i / (kSide * kSide) * 8 * kSide * 8 + i / kSide % kSide * 8) * kSide * 8 + i % kSide * 8;
    Block block = block_at(4 * corner, 32, 5000 + i);
    ASSERT_TRUE(block.regions[0].repeat(8, 4 * 8 * kSide));
    ASSERT_TRUE(block.regions[0].repeat(8, uint64_t{4} * 8 * kSide * 8 * kSide));
    block.element = codec::Element::f32;
    block.shape = {8, 8, 8};
    block.size = 900 + random() % 500;
    block.offset = end;
    block.checksum = random();
    end += block.size + 66;
    blocks.push_back(std::move(block));
  }
  const double bytes = static_cast<double>(pack_columns(each_of(blocks)).size()) / static_cast<double>(blocks.size());
  EXPECT_LT(bytes, 11);  // 8 are the checksum, 1.2 of the size cannot be foretold
}

TEST(Columns, DamageIsRefusedOrWithinBounds) {
  const Bytes good = pack_columns(each_of(random_blocks(3, 40)));
  expect_damage_is_refused(good, unpack_columns);
  for (size_t at = 0; at < good.size(); ++at) EXPECT_FALSE(unpack_columns({good.data(), at}).has_value());
}

/// What some of a list's segments were taken out of goes on in front of other lists.
TEST(Segment, ListsAreMadeOfWhatStandsBehindLists) {
  IndexSizes sizes;
  sizes.segment = 2;
  std::vector<Segment> segments(6);
  for (size_t i = 0; i < segments.size(); ++i) {
    segments[i].blocks = i + 1;
    segments[i].stretches = {{100 * i, 10}};
  }
  segments[1].list = true;
  Bytes bytes;
  file_segments(&segments, 1000, sizes, &bytes);
  ASSERT_EQ(segments.size(), 4U);  // 0, the list 1, and of 2, 3, 4 and 5 two lists
  EXPECT_FALSE(segments[0].list);
  for (size_t i = 1; i < 4; ++i) EXPECT_TRUE(segments[i].list);
  EXPECT_EQ(segments[3].blocks, 11U);
  const auto begin = bytes.begin() + static_cast<ptrdiff_t>(segments[3].offset - 1000);
  const Result<Unfiled> found = unfile(segments[3], Bytes(begin, begin + static_cast<ptrdiff_t>(segments[3].size)));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->segments.size(), 2U);
}

TEST(Segment, TellsWhereItsBlocksAre) {
  std::vector<Block> blocks;
  for (const uint64_t place : {0, 100, 1000, 1010, 5000, 5200, 9000, 9001}) {
    blocks.push_back(block_at(place, 10, 1 + place));
  }
  IndexSizes sizes;
  const Filing filing = file_blocks(each_of(blocks), 1 << 20, sizes);
  ASSERT_EQ(filing.segments.size(), 1U);
  const Segment &segment = filing.segments[0];
  EXPECT_EQ(segment.stretches, (std::vector<arrays::Run>{{0, 110}, {1000, 20}, {5000, 210}, {9000, 11}}));
  EXPECT_EQ(segment.newest, 9002U);
  EXPECT_EQ(segment.blocks, 8U);
  const Region beside = window(1020, 3980);
  EXPECT_FALSE(segment.touches({&beside, 1}));
  const Region within = window(1020, 3981);
  EXPECT_TRUE(segment.touches({&within, 1}));
  ByteWriter out;
  pack(filing.segments, &out);
  ByteReader in(out.view());
  const Result<std::vector<Segment>> read = unpack_segments(&in);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ((*read)[0].stretches, segment.stretches);
  EXPECT_EQ((*read)[0].offset, uint64_t{1} << 20);
  EXPECT_EQ((*read)[0].checksum, segment.checksum);
  // Many blocks from many places are several segments; few are not.
  blocks.clear();
  for (uint64_t i = 0; i < 60; ++i) blocks.push_back(block_at(1000 * (i / 6) + 10 * (i % 6), 10, i));
  sizes.segment = 32;
  const Filing parts = file_blocks(each_of(blocks), 0, sizes);
  ASSERT_EQ(parts.segments.size(), 3U);
  EXPECT_EQ(parts.segments[0].blocks, 24U);
  EXPECT_EQ(parts.segments[0].stretches.size(), 4U);
}

}  // namespace
}  // namespace cairn::arrays
