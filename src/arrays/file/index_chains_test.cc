// Index: blocks that are coded against others, in segments and out of them.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>

#include "arrays/testing/index_file.h"
#include "arrays/testing/made_block.h"

namespace cairn::arrays {
namespace {

TEST(Index, BlocksThatOthersInSegmentsAreCodedAgainstAreThere) {
  IndexFile file(3);
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
    IndexFile file(1 + static_cast<uint64_t>(draw(20)));
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
  IndexFile file(4);
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
  IndexFile file(1);
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

/// An earlier Cairn marked segments of which a block was coded against one of any segment before: all are taken in.
TEST(Index, OfAnEarlierCairnIsWhole) {
  IndexFile file(1);
  IndexSizes sizes;
  sizes.segment = 1;
  Index written;
  for (uint64_t step = 1; step <= 9; ++step) {
    Block block = block_at(10 * step, 10, step);
    if (step % 3 == 0) block.reference = step - 1;
    written.end = std::max<uint64_t>(written.end, file.size());
    Filing filing = file_blocks({&block}, written.end, sizes);
    ASSERT_EQ(filing.segments.size(), 1U);
    filing.segments[0].referring = block.reference != 0;
    file.put(written.end, filing.bytes);
    written.add_segments(std::move(filing.segments));
  }
  const Bytes root = pack(written);
  EXPECT_FALSE(unpack_index(root).has_value());
  const Result<Index> read = unpack_index(root, file.reader());
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const Result<Index> told = unpack_of_others(pack_for_others(*read));
  ASSERT_TRUE(told.has_value()) << told.error().message;
  for (const Index *each : {&*read, &*told}) {
    EXPECT_TRUE(each->whole());
    ASSERT_EQ(each->blocks().size(), 9U);
    for (uint64_t step = 1; step <= 9; ++step) {
      EXPECT_EQ(found(*each, window(10 * step, 5)), std::vector<uint64_t>{step});
      EXPECT_EQ(each->depth(step - 1), step % 3 == 0 ? 1U : 0U);
    }
  }
}

TEST(Index, WithReplacedBlocksIsToldAsItIs) {
  IndexFile file(2);
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

}  // namespace
}  // namespace cairn::arrays
