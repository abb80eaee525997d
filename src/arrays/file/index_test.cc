#include "arrays/file/index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "arrays/file/block_code.h"
#include "arrays/file/byte_order.h"
#include "arrays/testing/made_block.h"
#include "base/hash.h"

namespace cairn::arrays {
namespace {

Index random_index(uint32_t seed) {
  std::mt19937 random(seed);
  Index index;
  index.header = {1, 2, 3};
  index.user_codecs = {"mine"};
  index.home = 4096;
  for (uint64_t i = 1; i <= 60; ++i) {
    Block block = block_at(random() % 500, 4, i);
    for (int level = 0; level < 2; ++level) {
      (void)block.regions[0].repeat(1 + random() % 3, block.regions[0].end() - block.regions[0].offset + random() % 9);
    }
    block.shape = {block.bytes() / 4};
    block.element = codec::Element::f32;
    block.at_home = i % 5 == 0;
    if (block.at_home) block.size = block.bytes() / 2;
    EXPECT_TRUE(index.add(std::move(block)));
  }
  return index;
}

TEST(Index, FindsTheBlocksOfARequestOldestFirst) {
  const Index index = random_index(1);
  std::mt19937 random(2);
  for (int i = 0; i < 300; ++i) {
    Region wanted;
    wanted.offset = random() % 550;
    wanted.run = 1 + random() % 30;
    std::vector<std::pair<uint64_t, size_t>> expected;
    for (size_t b = 0; b < index.blocks().size(); ++b) {
      if (overlap(index.blocks()[b].regions[0], wanted)) expected.emplace_back(index.blocks()[b].sequence, b);
    }
    std::ranges::sort(expected);
    std::vector<std::pair<uint64_t, size_t>> found;
    for (const size_t b : index.find({&wanted, 1})) found.emplace_back(index.blocks()[b].sequence, b);
    EXPECT_EQ(found, expected);
  }
}

TEST(Index, MovesWithTheFile) {
  Index before = random_index(3);
  before.data_begin = 512;
  before.end = 70'000;
  Index index = before;
  ASSERT_TRUE(index.move(static_cast<uint64_t>(-96)));
  for (size_t i = 0; i < before.blocks().size(); ++i) {
    const auto from = places(before.blocks()[i], before.home);
    const auto to = places(index.blocks()[i], index.home);
    ASSERT_EQ(from.size(), to.size());
    for (size_t k = 0; k < from.size(); ++k) EXPECT_EQ(to[k].offset, from[k].offset - 96);
  }
  EXPECT_FALSE(Index(before).move(static_cast<uint64_t>(-5000)));  // in front of the file
}

TEST(Index, AWriteOfTheSameRegionsReplaces) {
  Index index;
  EXPECT_TRUE(index.add(block_at(0, 100, 1)));
  EXPECT_TRUE(index.add(block_at(50, 100, 2)));
  EXPECT_TRUE(index.add(block_at(0, 100, 3)));
  ASSERT_EQ(index.blocks().size(), 2U);
  EXPECT_EQ(index.blocks()[0].sequence, 3U);
  EXPECT_EQ(index.replaced, 51U);
  EXPECT_TRUE(index.add(block_at(50, 100, 1)));  // came late: the newer stays
  EXPECT_EQ(index.blocks()[1].sequence, 2U);
  EXPECT_EQ(index.virtual_end(), 150U);
}

Block block_against(uint64_t offset, uint64_t bytes, uint64_t sequence, uint64_t reference) {
  Block block = block_at(offset, bytes, sequence);
  block.reference = reference;
  return block;
}

TEST(Index, ABlockThatOthersAreCodedAgainstStays) {
  Index index;
  index.keep_replaced();
  ASSERT_TRUE(index.add(block_at(0, 100, 1)));
  ASSERT_TRUE(index.add(block_at(200, 100, 2)));
  ASSERT_TRUE(index.add(block_at(200, 100, 3)));  // replaces what nobody is coded against
  ASSERT_TRUE(index.add(block_at(0, 100, 4)));    // replaces what somebody is coded against, as turns out now:
  ASSERT_TRUE(index.add(block_against(100, 100, 5, 1)));
  ASSERT_TRUE(index.add(block_against(300, 100, 6, 5)));
  EXPECT_EQ(index.blocks().size(), 6U);
  EXPECT_EQ(index.depth(5), 2U);
  EXPECT_EQ(index.replaced, 0U);
  EXPECT_TRUE(index.drop_unneeded());
  EXPECT_FALSE(index.drop_unneeded());
  EXPECT_EQ(index.replaced, 51U);
  EXPECT_FALSE(index.holds(2));
  const auto check = [](const Index &checked) {
    std::vector<std::pair<uint64_t, bool>> blocks;
    for (const Block &block : checked.blocks()) blocks.emplace_back(block.sequence, block.replaced);
    EXPECT_EQ(blocks,
              (std::vector<std::pair<uint64_t, bool>>{{1, true}, {3, false}, {4, false}, {5, false}, {6, false}}));
    EXPECT_EQ(checked.reference_of(checked.blocks()[4]), 3U);
    EXPECT_EQ(checked.reference_of(checked.blocks()[3]), 0U);
    EXPECT_EQ(checked.depth(4), 2U);
    Region all;
    all.run = 400;
    EXPECT_EQ(checked.find({&all, 1}), (std::vector<size_t>{1, 2, 3, 4}));
    // A reader of block 4 alone needs those that it is coded against.
    EXPECT_EQ(checked.needed([](size_t block) { return block == 4; }),
              (std::vector<bool>{true, false, false, true, true}));
  };
  check(index);
  const Result<Index> read = unpack_index(pack(index));
  ASSERT_TRUE(read.has_value());
  check(*read);
  // Once nobody needs it any more, it goes.
  ASSERT_TRUE(index.add(block_at(100, 100, 7)));
  ASSERT_TRUE(index.add(block_at(300, 100, 8)));
  EXPECT_TRUE(index.drop_unneeded());
  EXPECT_EQ(index.blocks().size(), 4U);
  EXPECT_EQ(index.replaced, 4U * 51);
}

TEST(Index, RefusesWhatNoReaderCouldDecode) {
  Index index;
  ASSERT_TRUE(index.add(block_at(0, 100, 1)));
  EXPECT_FALSE(index.add(block_against(100, 100, 3, 2)));  // against none
  EXPECT_FALSE(index.add(block_against(100, 50, 3, 1)));   // against a shorter one
  Block other = block_against(100, 100, 3, 1);
  other.element = codec::Element::f32;
  EXPECT_FALSE(index.add(std::move(other)));
  EXPECT_EQ(index.blocks().size(), 1U);
  uint64_t sequence = 1;
  while (index.add(block_against(100 * sequence, 100, sequence + 1, sequence))) ++sequence;
  EXPECT_EQ(sequence, 1 + kMostChain);
  // What comes late under a number that is known is not what others were coded against.
  ASSERT_TRUE(index.add(block_at(1 << 20, 100, 1)));
  EXPECT_EQ(index.reference_of(index.blocks()[1]), 0U);
  // An index whose block refers to itself or to a later one.
  Block loop = block_at(0, 100, 5);
  loop.reference = 5;
  EXPECT_FALSE(unpack_blocks(pack(std::span<const Block>(&loop, 1))).has_value());
  loop.reference = 6;
  EXPECT_FALSE(unpack_blocks(pack(std::span<const Block>(&loop, 1))).has_value());
}

TEST(Index, IsReadAsItWasWritten) {
  const Index index = random_index(3);
  const Result<Index> read = unpack_index(pack(index));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->header, index.header);
  EXPECT_EQ(read->user_codecs, index.user_codecs);
  EXPECT_EQ(read->home, index.home);
  EXPECT_EQ(read->replaced, index.replaced);
  ASSERT_EQ(read->blocks().size(), index.blocks().size());
  for (size_t i = 0; i < index.blocks().size(); ++i) expect_equal(read->blocks()[i], index.blocks()[i]);
}

TEST(Index, DamagedBlocksAreRefusedOrWithinBounds) {
  expect_damage_is_refused(pack(std::span<const Block>(random_index(4).blocks())),
                           [](ByteView bytes) { return unpack_blocks(bytes); });
}

TEST(Index, RegionsOutOfOrderAreRefused) {
  Block block = block_at(1000, 4, 1);
  Region before = block.regions[0];
  before.offset = 500;
  block.regions.push_back(before);
  block.shape = {8};
  EXPECT_FALSE(unpack_blocks(pack({&block, 1})).has_value());
  std::swap(block.regions[0], block.regions[1]);
  EXPECT_TRUE(unpack_blocks(pack({&block, 1})).has_value());
}

TEST(Block, AtHomeLiesInTheFirstOfItsRuns) {
  Block block = block_at(100, 10, 1);
  ASSERT_TRUE(block.regions[0].repeat(5, 25));
  block.at_home = true;
  block.size = 23;
  EXPECT_EQ(places(block, 1000), (std::vector<arrays::Run>{{1100, 10}, {1125, 10}, {1150, 3}}));
}

TEST(Block, ValuesComeBackInTheFilesByteOrder) {
  const Bytes big = {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4};
  Bytes little(big.size());
  swap_bytes(big.data(), little.data(), big.size(), 4);
  EXPECT_EQ(little[0], 1);
  Block block = block_at(100, 8, 1);
  ASSERT_TRUE(block.regions[0].repeat(2, 20));
  block.element = codec::Element::i32;
  block.shape = {2, 2};
  const codec::Grid grid{block.element, block.shape, {}};
  const Coded coded = encode(little, grid, Coding{}, true, 0);
  block.codec = coded.codec;
  block.size = coded.bytes.size();
  block.checksum = hash64(coded.bytes);
  const Result<Bytes> values = decode(block, coded.bytes, {});
  ASSERT_TRUE(values.has_value());
  EXPECT_EQ(*values, little);
  // Bytes 102 to 125: most of the first run, the gap, half of the second.
  Region wanted;
  wanted.offset = 102;
  wanted.run = 23;
  Bytes data(23, 0xEE);
  lay(block, *values, {&wanted, 1}, data.data());
  Bytes expected(23, 0xEE);
  std::copy(big.begin() + 2, big.begin() + 8, expected.begin());
  std::copy(big.begin() + 8, big.begin() + 13, expected.begin() + 18);
  EXPECT_EQ(data, expected);

  Bytes damaged = coded.bytes;
  damaged.back() ^= 1;
  const Result<Bytes> refused = decode(block, damaged, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("checksum"), std::string::npos);
}

TEST(Block, LiesInARequestAsItIsOrNot) {
  Block block = block_at(100, 8, 1);
  ASSERT_TRUE(block.regions[0].repeat(3, 20));
  const auto region = [](uint64_t offset, uint64_t run) {
    Region of;
    of.offset = offset;
    of.run = run;
    return of;
  };
  const auto repeated = [&](uint64_t offset, uint64_t run, uint64_t count, uint64_t stride) {
    Region of = region(offset, run);
    EXPECT_TRUE(of.repeat(count, stride));
    return of;
  };
  const auto place = [&](const Regions &request) { return place_in(block, request); };
  EXPECT_EQ(place({block.regions[0]}), 0U);
  EXPECT_EQ(place({region(10, 7), block.regions[0]}), 7U);
  EXPECT_EQ(place({repeated(60, 8, 6, 20)}), 16U);
  // With what lies between; of some rows more; not all; in two regions.
  EXPECT_EQ(place({region(100, 48)}), std::nullopt);
  EXPECT_EQ(place({repeated(100, 12, 3, 20)}), std::nullopt);
  EXPECT_EQ(place({repeated(100, 8, 2, 20)}), std::nullopt);
  EXPECT_EQ(place({region(100, 8), repeated(120, 8, 2, 20)}), std::nullopt);
  block = block_at(100, 24, 1);
  EXPECT_EQ(place({region(90, 50)}), 10U);
  EXPECT_EQ(place({region(90, 30)}), std::nullopt);
  EXPECT_EQ(place({region(200, 30)}), std::nullopt);
  // A row of its own, but no whole region.
  EXPECT_EQ(place({repeated(60, 24, 3, 40)}), 24U);
}

}  // namespace
}  // namespace cairn::arrays
