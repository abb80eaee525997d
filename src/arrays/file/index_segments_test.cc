// Index: what of it stands in segments of the file, who reads and writes those, and what is let go.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "arrays/testing/index_file.h"
#include "arrays/testing/made_block.h"

namespace cairn::arrays {
namespace {

/// Against an index without segments, through syncs, forgetting, moves of the file and reading of parts.
TEST(Index, InSegmentsAnswersAsInOnePiece) {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    IndexFile file(1 + random() % 6);
    Index index;
    Index plain;
    for (uint64_t sequence = 1; sequence <= 120; ++sequence) {
      const uint64_t offset = random() % 40 * 10;
      const Block block = block_at(offset, 10 * (1 + random() % 3), sequence);
      ASSERT_TRUE(index.add(block));
      ASSERT_TRUE(plain.add(block));
      if (random() % 4 == 0) file.synchronise(&index);
      if (random() % 9 == 0) index.let_go(random() % 20);
    }
    EXPECT_EQ(index.virtual_end(), plain.virtual_end());
    EXPECT_EQ(index.newest(), 120U);
    file.synchronise(&index);
    Result<Index> read = unpack_index(file.root());
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->virtual_end(), plain.virtual_end());
    EXPECT_EQ(read->newest(), 120U);
    const uint64_t moved = random() % 2 * 512;
    file.move(moved);
    ASSERT_TRUE(read->move(moved));
    for (int i = 0; i < 12; ++i) {
      const Region wanted = window(random() % 430, 1 + random() % 40);
      ASSERT_TRUE(read->load({&wanted, 1}, file.reader()).has_value());
      EXPECT_EQ(found(*read, wanted), found(plain, wanted));
    }
    ASSERT_TRUE(read->load_all(file.reader()).has_value());
    ASSERT_TRUE(read->whole());
    EXPECT_EQ(read->replaced, plain.replaced);
    ASSERT_EQ(read->blocks().size(), plain.blocks().size());
    const Region all = window(0, 1000);
    EXPECT_EQ(found(*read, all), found(plain, all));
    for (const Block &block : read->blocks()) EXPECT_EQ(block.offset, 1000 * block.sequence + moved);
    for (const arrays::Run &place : read->segment_places()) EXPECT_LE(place.end(), file.size());
  }
}

TEST(Index, OfAGrowingFileIsNotWrittenAgainAndAgain) {
  IndexFile file(64);
  Index index;
  size_t most = 0;
  constexpr uint64_t kBlocks = 100'000;
  for (uint64_t sequence = 1; sequence <= kBlocks; ++sequence) {
    ASSERT_TRUE(index.add(block_at(10 * sequence, 10, sequence)));
    if (sequence % 50 != 0) continue;
    file.synchronise(&index);
    most = std::max(most, file.root().size());
    index.let_go(256);
  }
  EXPECT_LT(index.blocks().size(), 256U + 64U);
  EXPECT_LT(most, 8000U);
  EXPECT_LT(file.written() / kBlocks, 200U);  // two thousand syncs
  // One block in the middle takes a list and a segment.
  Result<Index> read = unpack_index(file.root());
  ASSERT_TRUE(read.has_value());
  const Region wanted = window(500'000, 5);
  const size_t before = file.reads();
  ASSERT_TRUE(read->load({&wanted, 1}, file.reader()).has_value());
  EXPECT_LE(file.reads() - before, 2U);
  EXPECT_EQ(found(*read, wanted), std::vector<uint64_t>{50'000});
  EXPECT_LE(read->blocks().size(), 128U);
}

TEST(Index, WhoseSegmentsOthersWriteStaysShort) {
  IndexFile file(64);
  IndexSizes sizes;
  sizes.segment = 64;
  Index index;
  size_t most = 0;
  uint64_t sequence = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<Block> theirs;
    for (int i = 0; i < 3; ++i, ++sequence) theirs.push_back(block_at(10 * sequence, 10, sequence));
    index.end = std::max<uint64_t>(index.end, file.size());
    Filing filing = file_blocks(each_of(theirs), index.end, sizes);
    file.put(index.end, filing.bytes);
    index.end += filing.bytes.size();
    index.add_segments(std::move(filing.segments));
    if (round % 100 == 0) {
      ASSERT_TRUE(index.add(block_at(10 * sequence, 10, sequence)));
      ++sequence;
    }
    file.synchronise(&index);
    index.let_go(1 << 20);
    most = std::max(most, file.root().size());
  }
  EXPECT_EQ(index.blocks().size(), 20U);
  EXPECT_LE(index.segments().size(), 2000U / sizes.list() + sizes.list());
  EXPECT_LT(most, 8000U);
  Result<Index> read = unpack_index(file.root());
  ASSERT_TRUE(read.has_value());
  for (Index *each : {&index, &*read}) {
    ASSERT_TRUE(each->load_all(file.reader()).has_value());
    EXPECT_EQ(each->blocks().size(), sequence);
    for (uint64_t at = 0; at < sequence; at += 97)
      EXPECT_EQ(found(*each, window(10 * at, 3)), std::vector<uint64_t>{at});
  }
}

TEST(Index, OfAFileThatIsWrittenOverStaysShort) {
  IndexFile file(8);
  Index index;
  for (uint64_t sequence = 1; sequence <= 5000; ++sequence) {
    ASSERT_TRUE(index.add(block_at(10 * (sequence % 20), 10, sequence)));
    if (sequence % 10 == 0) file.synchronise(&index);
  }
  uint64_t named = 0;
  for (const Segment &segment : index.segments()) named += segment.blocks;
  EXPECT_LE(named, 2U * 20 + 4 * 8);
  Result<Index> read = unpack_index(file.root());
  ASSERT_TRUE(read.has_value());
  ASSERT_TRUE(read->load_all(file.reader()).has_value());
  EXPECT_EQ(read->blocks().size(), 20U);
  EXPECT_EQ(read->replaced, index.replaced);
}

TEST(Index, ADamagedSegmentIsAnErrorForThoseWhoNeedIt) {
  IndexFile file(4);
  Index index;
  for (uint64_t sequence = 1; sequence <= 40; ++sequence) {
    ASSERT_TRUE(index.add(block_at(10 * sequence, 10, sequence)));
    if (sequence % 4 == 0) file.synchronise(&index);
  }
  Result<Index> read = unpack_index(file.root());
  ASSERT_TRUE(read.has_value());
  const Region low = window(15, 1);
  const Region high = window(395, 1);
  ASSERT_TRUE(read->load({&low, 1}, file.reader()).has_value());
  const uint64_t at = index.segments().back().offset + index.segments().back().size - 1;
  file.byte(at) ^= 4;
  const Region middle = window(105, 1);
  EXPECT_TRUE(read->load({&middle, 1}, file.reader()).has_value());
  EXPECT_EQ(found(*read, middle), std::vector<uint64_t>{10});
  for (int i = 0; i < 2; ++i) {
    const Result<void> loaded = read->load({&high, 1}, file.reader());
    ASSERT_FALSE(loaded.has_value());
    EXPECT_NE(loaded.error().message.find("segment"), std::string::npos);
  }
  EXPECT_FALSE(read->load_all(file.reader()).has_value());
  EXPECT_FALSE(read->whole());
  EXPECT_EQ(found(*read, middle), std::vector<uint64_t>{10});
  file.byte(at) ^= 4;
  ASSERT_TRUE(read->load({&high, 1}, file.reader()).has_value());
  EXPECT_EQ(found(*read, high), std::vector<uint64_t>{39});
}

TEST(Index, BlocksOfAnotherIndexAreNew) {
  IndexFile file(2);
  Index index;
  for (uint64_t sequence = 1; sequence <= 4; ++sequence) ASSERT_TRUE(index.add(block_at(10 * sequence, 10, sequence)));
  file.synchronise(&index);
  Index copy;
  for (const Block &block : index.blocks()) ASSERT_TRUE(copy.add(block));
  const Result<Index> read = unpack_index(pack(copy));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->blocks().size(), 4U);
}

TEST(Index, BlocksThatHaveMovedAreNamedAnew) {
  IndexFile file(2);
  Index index;
  for (uint64_t sequence = 1; sequence <= 10; ++sequence) ASSERT_TRUE(index.add(block_at(10 * sequence, 10, sequence)));
  file.synchronise(&index);
  index.unfile();
  index.blocks()[3].offset = 77;
  file.synchronise(&index);
  Result<Index> read = unpack_index(file.root());
  ASSERT_TRUE(read.has_value());
  ASSERT_TRUE(read->load_all(file.reader()).has_value());
  ASSERT_EQ(read->blocks().size(), 10U);
  EXPECT_EQ(read->blocks()[3].offset, 77U);
  EXPECT_EQ(read->replaced, 0U);
}

}  // namespace
}  // namespace cairn::arrays
