// For tests: blocks of which only their place in the virtual file matters.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "arrays/file/block.h"

namespace cairn::arrays {

/// Some bytes in one run.
inline Region window(uint64_t offset, uint64_t bytes) {
  Region region;
  region.offset = offset;
  region.run = bytes;
  return region;
}

/// Bytes in one run; the rest follows from the sequence number.
inline Block block_at(uint64_t offset, uint64_t bytes, uint64_t sequence) {
  Block block;
  block.regions = {window(offset, bytes)};
  block.shape = {bytes};
  block.sequence = sequence;
  block.offset = 1000 * sequence;
  block.size = bytes / 2 + 1;
  block.checksum = sequence * 77;
  return block;
}

inline std::vector<const Block *> each_of(const std::vector<Block> &blocks) {
  std::vector<const Block *> each;
  each.reserve(blocks.size());
  for (const Block &block : blocks) each.push_back(&block);
  return each;
}

inline void expect_equal(const Block &a, const Block &b) {
  EXPECT_EQ(a.regions, b.regions);
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.element, b.element);
  EXPECT_EQ(a.codec, b.codec);
  EXPECT_EQ(a.at_home, b.at_home);
  EXPECT_EQ(a.replaced, b.replaced);
  EXPECT_EQ(a.sequence, b.sequence);
  EXPECT_EQ(a.reference, b.reference);
  EXPECT_EQ(a.offset, b.offset);
  EXPECT_EQ(a.size, b.size);
  EXPECT_EQ(a.checksum, b.checksum);
}

/// Each bit pattern at each byte: `unpack` mostly refuses what it became, and never gives blocks beyond all bounds.
template <typename Unpack>
void expect_damage_is_refused(const Bytes &good, Unpack unpack) {
  size_t refused = 0;
  for (size_t at = 0; at < good.size(); ++at) {
    for (const int flip : {0x01, 0x10, 0x80, 0xFF}) {
      Bytes bytes = good;
      bytes[at] ^= static_cast<uint8_t>(flip);
      const Result<std::vector<Block>> blocks = unpack(ByteView(bytes));
      if (!blocks) {
        ++refused;
        continue;
      }
      for (const Block &block : *blocks) EXPECT_LE(block.bytes(), kMostBlock);
    }
  }
  EXPECT_GT(refused, good.size());
}

}  // namespace cairn::arrays
