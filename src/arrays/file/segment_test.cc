#include "arrays/file/segment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>

#include "arrays/file/index.h"
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

std::vector<const Block *> each_of(const std::vector<Block> &blocks) {
  std::vector<const Block *> each;
  each.reserve(blocks.size());
  for (const Block &block : blocks) each.push_back(&block);
  return each;
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

/// A file that holds an index, as a writer of one process keeps it.
class File {
 public:
  explicit File(uint64_t segment) { sizes_.segment = segment; }

  void synchronise(Index *index) {
    index->end = std::max<uint64_t>(index->end, bytes_.size());
    if (std::optional<Index::Plan> plan = index->plan(sizes_)) {
      put(index->end, plan->bytes);
      written_ += plan->bytes.size();
      index->filed(std::move(*plan));
    }
    root_ = pack(*index);
    written_ += root_.size();
  }
  [[nodiscard]] ReadPlace reader() const {
    return [this](const Run &place) -> Result<Bytes> {
      ++reads_;
      if (place.end() > bytes_.size()) return fail(ErrorKind::unreadable, "beyond the end");
      const auto begin = bytes_.begin() + static_cast<ptrdiff_t>(place.offset);
      return Bytes(begin, begin + static_cast<ptrdiff_t>(place.bytes));
    };
  }
  void put(uint64_t at, ByteView bytes) {
    bytes_.resize(std::max<size_t>(bytes_.size(), at + bytes.size()));
    std::ranges::copy(bytes, bytes_.begin() + static_cast<ptrdiff_t>(at));
  }
  void move(uint64_t by) { bytes_.insert(bytes_.begin(), by, 0); }
  uint8_t &byte(uint64_t at) { return bytes_[at]; }
  [[nodiscard]] const Bytes &root() const { return root_; }
  [[nodiscard]] size_t size() const { return bytes_.size(); }
  [[nodiscard]] size_t written() const { return written_; }
  [[nodiscard]] size_t reads() const { return reads_; }

 private:
  IndexSizes sizes_;
  Bytes bytes_;
  Bytes root_;
  size_t written_ = 0;
  mutable size_t reads_ = 0;
};

Region window(uint64_t offset, uint64_t bytes) {
  Region region;
  region.offset = offset;
  region.run = bytes;
  return region;
}

std::vector<uint64_t> found(const Index &index, const Region &wanted) {
  std::vector<uint64_t> sequences;
  for (const size_t block : index.find({&wanted, 1})) sequences.push_back(index.blocks()[block].sequence);
  return sequences;
}

/// Against an index without segments, through syncs, forgetting, moves of the file and reading of parts.
TEST(Index, InSegmentsAnswersAsInOnePiece) {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    File file(1 + random() % 6);
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
  File file(64);
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
  File file(64);
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
  File file(8);
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
  File file(4);
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

TEST(Index, BlocksThatOthersInSegmentsAreCodedAgainstAreThere) {
  File file(3);
  Index index;
  index.keep_replaced();
  for (uint64_t step = 0; step < 30; ++step) {
    for (uint64_t box = 0; box < 2; ++box) {
      Block block = block_at(1000 * box + 10 * step, 10, 1 + 2 * step + box);
      if (step % 5 != 0) block.reference = block.sequence - 2;
      ASSERT_TRUE(index.add(std::move(block)));
    }
    file.synchronise(&index);
  }
  EXPECT_GT(index.segments().size(), 3U);
  EXPECT_FALSE(unpack_index(file.root()).has_value());
  const Result<Index> read = unpack_index(file.root(), file.reader());
  ASSERT_TRUE(read.has_value());
  // Where segments stand is known after the file has moved, too.
  Result<Index> moved = unpack_index(file.root(), file.reader());
  ASSERT_TRUE(moved.has_value());
  ASSERT_TRUE(moved->move(512));
  const std::vector<arrays::Run> from = read->segment_places();
  const std::vector<arrays::Run> to = moved->segment_places();
  ASSERT_EQ(to.size(), from.size());
  for (size_t i = 0; i < to.size(); ++i) EXPECT_EQ(to[i].offset, from[i].offset + 512);
  const Result<Index> told = unpack_of_others(pack_for_others(index));
  ASSERT_TRUE(told.has_value());
  for (const Index *each : {&*read, &*told}) {
    ASSERT_EQ(each->blocks().size(), 60U);
    for (size_t i = 0; i < 60; ++i) {
      expect_equal(each->blocks()[i], index.blocks()[i]);
      EXPECT_EQ(each->depth(i), i / 2 % 5);
    }
  }
}

/// What is known of the blocks of some places, each of which is written again and again.
struct Places {
  struct Written {
    uint64_t reference;
    int place;
  };
  std::vector<Written> all{{}};  ///< by sequence number
  std::map<int, uint64_t> newest;

  static Region region(int place) { return window(100 + 100 * static_cast<uint64_t>(place), 100); }
  /// A block at the place, against an earlier one.
  uint64_t put(int place, uint64_t reference, Index *index) {
    const uint64_t sequence = all.size();
    Block block = block_at(region(place).offset, 100, sequence);
    block.reference = reference;
    EXPECT_TRUE(index->add(std::move(block)));
    all.push_back({reference, place});
    newest[place] = sequence;
    return sequence;
  }
  [[nodiscard]] int depth(uint64_t sequence) const { return sequence == 0 ? -1 : 1 + depth(all[sequence].reference); }
  /// That the index finds the newest block there, and all that it needs.
  void check(Index *index, int place, const ReadPlace &read) const {
    const Region wanted = region(place);
    const Result<void> loaded = index->load({&wanted, 1}, read);
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    const auto known = newest.find(place);
    if (known == newest.end()) return;
    ASSERT_EQ(found(*index, wanted), std::vector<uint64_t>{known->second});
    size_t block = index->find({&wanted, 1})[0];
    for (uint64_t sequence = known->second;; sequence = all[sequence].reference) {
      ASSERT_EQ(index->blocks()[block].sequence, sequence);
      ASSERT_EQ(index->blocks()[block].reference, all[sequence].reference);
      if (all[sequence].reference == 0) return;
      const std::optional<size_t> other = index->reference_of(index->blocks()[block]);
      ASSERT_TRUE(other.has_value());
      ASSERT_LT(*other, block);
      block = *other;
    }
  }
};

/// A writer and its readers through syncs, chains that begin and end, letting go, reopening and moves, against a model.
TEST(Index, WithChainsGivesWhatWasWritten) {
  for (uint32_t seed = 0; seed < 25 && !HasFatalFailure(); ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](int count) { return static_cast<int>(random() % static_cast<uint32_t>(count)); };
    File file(1 + static_cast<uint64_t>(draw(20)));
    const auto held = static_cast<uint64_t>(draw(100)) + 1;
    const int places = 20 + draw(200);
    Index index;
    index.keep_replaced();
    Places written;
    std::map<int, uint64_t> against;  // what blocks may be coded against
    bool chaining = true;
    int ends = draw(40);
    const auto some = [&](Index *each) {
      for (int place = draw(9); place < places && !HasFatalFailure(); place += 1 + draw(30))
        written.check(each, place, file.reader());
    };
    for (int step = 0; step < 60 && !HasFatalFailure(); ++step) {
      for (int i = draw(60); i > 0; --i) {
        const auto earlier = against.lower_bound(draw(places));
        const bool refers =
            chaining && draw(3) == 0 && earlier != against.end() && written.depth(earlier->second) < 200;
        const int place = draw(places);
        const uint64_t sequence = written.put(place, refers ? earlier->second : 0, &index);
        if (chaining && draw(2) == 0) against[place] = sequence;
      }
      if (chaining && step >= ends) {
        chaining = false;
        against.clear();
        index.end_chains();
      }
      switch (draw(6)) {
        case 0:
          some(&index);
          break;
        case 1: {
          Result<Index> other = unpack_of_others(pack_for_others(index));
          ASSERT_TRUE(other.has_value()) << other.error().message;
          some(&*other);
          break;
        }
        case 2:
          if (draw(8) != 0) break;
          ASSERT_TRUE(index.load_all(file.reader()).has_value());
          index.unfile();
          break;
        default: {
          if (!chaining) index.drop_unneeded();
          file.synchronise(&index);
          Result<Index> read = unpack_index(file.root(), file.reader());
          ASSERT_TRUE(read.has_value()) << read.error().message;
          if (draw(3) == 0) {
            ASSERT_TRUE(read->load_all(file.reader()).has_value());
          }
          some(&*read);
          EXPECT_FALSE(draw(2) == 0 && index.let_go(held) && chaining);
          if (draw(12) != 0) break;
          read = unpack_index(file.root(), file.reader());
          Result<Index> opened = unpack_of_others(pack_for_others(*read));
          ASSERT_TRUE(opened.has_value()) << opened.error().message;
          EXPECT_EQ(opened->named(), index.named());
          index = std::move(*opened);
          against.clear();
          chaining = draw(2) == 0;
          ends = step + draw(20);
          if (chaining) {
            index.keep_replaced();
          } else {
            index.end_chains();
          }
        }
      }
    }
    for (int place = 0; place < places && !HasFatalFailure(); ++place) written.check(&index, place, file.reader());
    ASSERT_FALSE(HasFatalFailure()) << seed;
  }
}

/// Steps whose boxes are coded against each other, then some that are not: who reads a part of these takes in what any
/// is coded against, and no more; and whoever writes them lets go of the later ones.
TEST(Index, WhatComesAfterChainsIsLetGo) {
  File file(4);
  Index index;
  index.keep_replaced();
  constexpr uint64_t kChained = 40;
  constexpr uint64_t kAll = 4000;
  for (uint64_t step = 1; step <= kAll; ++step) {
    Block block = block_at(10 * step, 10, step);
    if (step <= kChained && step % 4 != 1) block.reference = step - 1;
    ASSERT_TRUE(index.add(std::move(block)));
    if (step == kChained + 1) index.end_chains();
    if (step % 3 != 0) continue;
    file.synchronise(&index);
    const bool gone = index.let_go(kChained + 20);
    EXPECT_FALSE(gone && step <= kChained);
    EXPECT_LE(index.blocks().size(), kChained + 20 + 4);
  }
  // Another writer goes on with it.
  file.synchronise(&index);
  const Result<Index> stored = unpack_index(file.root(), file.reader());
  ASSERT_TRUE(stored.has_value());
  Result<Index> opened = unpack_of_others(pack_for_others(*stored));
  ASSERT_TRUE(opened.has_value());
  index = std::move(*opened);
  index.end_chains();
  for (uint64_t step = kAll + 1; step <= 2 * kAll; ++step) {
    ASSERT_TRUE(index.add(block_at(10 * step, 10, step)));
    if (step % 3 != 0) continue;
    file.synchronise(&index);
    index.let_go(kChained + 20);
    EXPECT_LE(index.blocks().size(), kChained + 20 + 4);
  }
  EXPECT_LE(index.blocks().size(), kChained + 20);
  file.synchronise(&index);
  Result<Index> read = unpack_index(file.root(), file.reader());
  ASSERT_TRUE(read.has_value());
  EXPECT_GE(read->blocks().size(), kChained);
  EXPECT_LE(read->blocks().size(), kChained + 20);
  Result<Index> told = unpack_of_others(pack_for_others(*read));
  ASSERT_TRUE(told.has_value());
  ASSERT_TRUE(index.load({}, file.reader()).has_value());
  Result<Index> told_anew = unpack_of_others(pack_for_others(index));
  ASSERT_TRUE(told_anew.has_value());
  for (Index *each : {&*read, &index, &*told, &*told_anew}) {
    for (const uint64_t step : {2000, 41, 39, 1, 7999, 7}) {
      const Region wanted = window(10 * step + 3, 5);
      ASSERT_TRUE(each->load({&wanted, 1}, file.reader()).has_value());
      EXPECT_EQ(found(*each, wanted), std::vector<uint64_t>{step});
    }
    EXPECT_LE(each->blocks().size(), kChained + 80);
    ASSERT_TRUE(each->load_all(file.reader()).has_value());
    for (uint64_t step = 1; step <= 2 * kAll; ++step) {
      const Region wanted = window(10 * step, 10);
      ASSERT_EQ(found(*each, wanted), std::vector<uint64_t>{step});
      const size_t block = each->find({&wanted, 1})[0];
      EXPECT_EQ(each->depth(block), step <= kChained ? (step - 1) % 4 : 0U);
    }
  }
}

/// A reader of segments sees that a block is replaced before it sees that one is coded against it.
TEST(Index, WhatIsReplacedBeforeAnyIsCodedAgainstItStays) {
  File file(1);
  Index index;
  index.keep_replaced();
  for (uint64_t sequence : {1, 2}) {
    ASSERT_TRUE(index.add(block_at(10, 10, sequence)));
    file.synchronise(&index);
  }
  Block later = block_at(20, 10, 3);
  later.reference = 1;
  ASSERT_TRUE(index.add(later));
  for (const bool filed : {false, true}) {
    if (filed) file.synchronise(&index);
    Result<Index> read = unpack_index(filed ? file.root() : pack(index), file.reader());
    ASSERT_TRUE(read.has_value()) << read.error().message;
    ASSERT_TRUE(read->load_all(file.reader()).has_value());
    EXPECT_EQ(found(*read, window(0, 100)), (std::vector<uint64_t>{2, 3}));
    EXPECT_TRUE(read->holds(1));
  }
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

TEST(Index, WithReplacedBlocksIsToldAsItIs) {
  File file(2);
  Index index;
  index.keep_replaced();
  index.end_chains();
  for (uint64_t sequence = 1; sequence <= 4; ++sequence) ASSERT_TRUE(index.add(block_at(10 * sequence, 10, sequence)));
  file.synchronise(&index);
  ASSERT_TRUE(index.add(block_at(50, 10, 5)));
  ASSERT_TRUE(index.add(block_at(50, 10, 6)));  // 5 stays, replaced
  const Result<Index> part = unpack_index(pack(index));
  ASSERT_TRUE(part.has_value());
  EXPECT_FALSE(part->whole());
  Result<Index> read = unpack_of_others(pack_for_others(*part));
  ASSERT_TRUE(read.has_value());
  ASSERT_TRUE(read->load_all(file.reader()).has_value());
  const Region all = window(0, 100);
  EXPECT_EQ(found(*read, all), (std::vector<uint64_t>{1, 2, 3, 4, 6}));
}

TEST(Index, BlocksOfAnotherIndexAreNew) {
  File file(2);
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
  File file(2);
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
