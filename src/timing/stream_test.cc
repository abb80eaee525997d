#include "timing/stream.h"

#include <gtest/gtest.h>

#include "timing/group_numbers.h"
#include "timing/made_up_times.h"
#include "timing/stream_promises.h"

namespace cairn::timing {
namespace {

TEST(Stream, EachModeKeepsItsPromises) {
  for (const Mode &mode : modes()) {
    if (mode.encode == nullptr || mode.bounds != Bounds::relative) continue;  // coders_test.cc has the absolute ones
    SCOPED_TRACE(mode.name);
    for (const MadeUpTimes &made : made_up_times(21'000)) expect_promises_kept(made, mode, 100'000);
  }
}

TEST(Stream, LosslessTimesAreExact) {
  for (const MadeUpTimes &made : made_up_times(30'000)) expect_promises_kept(made, *mode_named("lossless"), 0);
}

TEST(Stream, AnchorsHoldTheClockForLittle) {
  MadeUpTimes made{"drift", looping_groups(20'000, 7), {}};
  // Each rounded the same way: without anchors the clock would be off by 9 % in the end.
  for (size_t i = 0; i < made.groups.size(); ++i) made.times.push_back({10'000 + i % 97 * 131, 1000 + i % 89 * 17});
  const Coded written = coded(made, *mode_named("context"), 100'000);
  uint64_t all = 0;
  for (const CallTime &time : made.times) all += time.gap + time.duration;
  EXPECT_LT(written.size.clock_error_ns, all / 50);
  EXPECT_GT(written.size.clock_error_ns, 0U);
}

/// Calls on one clock, some nested in others, each told when it ends.
struct NestedCalls {
  struct Call {
    uint64_t begin = 0;
    uint64_t end = 0;
  };
  std::vector<Call> calls;
  std::vector<uint32_t> groups;  ///< one for each depth
  std::vector<CallTime> times;
  static constexpr uint32_t kDeepest = 3;
  static std::vector<uint32_t> depths() { return {0, 1, 2, 3}; }

  explicit NestedCalls(size_t count) {
    while (calls.size() < count) make(0);
  }

 private:
  void make(uint32_t depth) {
    clock_ += random_() % 50'000;
    const uint64_t begin = clock_;
    for (auto i = depth == kDeepest ? 0 : random_() % 3; i > 0; --i) make(depth + 1);
    clock_ += random_() % 1000;
    times.push_back({begin - ends_.before(depth), clock_ - begin});
    ends_.ended(depth, clock_);
    calls.push_back({begin, clock_});
    groups.push_back(depth);
  }
  std::mt19937 random_{7};
  uint64_t clock_ = 0;
  EndsByDepth<uint64_t> ends_;
};

TEST(Stream, NestedCallsAreWhereTheyWere) {
  const NestedCalls made(90'000);
  const std::vector<uint32_t> depths = NestedCalls::depths();
  for (const uint64_t bound : {uint64_t{0}, uint64_t{100'000}}) {
    const std::vector<uint64_t> bounds(depths.size(), bound);
    StreamSize size;
    const Bytes stream = encode_stream(*mode_named("context"), made.groups, bounds, made.times, &size, depths);
    std::vector<BlockPlace> blocks;
    size_t bad = 0;
    ASSERT_TRUE(find_blocks(stream, made.calls.size(), &blocks, &bad));
    ASSERT_GT(blocks.size(), 4U);
    uint64_t begun_amid = 0;
    for (const BlockPlace &block : blocks) {  // each without the others
      GroupNumbers numbers;
      numbers.begin_block();
      for (uint64_t i = 0; i < block.calls; ++i) {
        const uint32_t group = made.groups[block.first_call + i];
        numbers.add(group, bound, depths[group]);
      }
      std::vector<PlacedTime> read;
      ASSERT_EQ(decode_block(block, numbers.calls().groups, &read, numbers.calls().depths), nullptr);
      begun_amid += block.first_call != 0 && made.groups[block.first_call - 1] != 0 ? 1 : 0;
      for (size_t i = 0; i < read.size(); ++i) {
        const NestedCalls::Call &call = made.calls[block.first_call + i];
        ASSERT_TRUE(within(made.times[block.first_call + i].gap, read[i].time.gap, bound));
        ASSERT_LE(distance(read[i].begin_ns, call.begin), block.clock_error_ns);
        ASSERT_LE(distance(read[i].begin_ns + read[i].time.duration, call.end), block.clock_error_ns);
      }
    }
    EXPECT_GT(begun_amid, 0U) << "a block begins where calls go on";
    EXPECT_EQ(size.clock_error_ns == 0, bound == 0);
    EXPECT_LT(size.clock_error_ns, made.calls.back().end / 50);
  }
}

TEST(Stream, WithoutNestedCallsNoBlockSaysAnythingOfThem) {
  const MadeUpTimes made = made_up_times(5'000)[2];
  const Coded written = coded(made, *mode_named("context"), 100'000);
  const std::vector<uint64_t> bounds(10'000, 100'000);
  StreamSize size;
  EXPECT_EQ(written.stream, encode_stream(*mode_named("context"), made.groups, bounds, made.times, &size,
                                          std::vector<uint32_t>(10'000, 0)));
}

TEST(Stream, ABlockIsDecodedWithoutTheOthers) {
  const MadeUpTimes made = made_up_times(65'000)[4];
  const Coded written = coded(made, *mode_named("context"), 100'000);
  const std::vector<BlockPlace> blocks = blocks_of(written, made);
  ASSERT_EQ(blocks.size(), 4U);
  std::vector<PlacedTime> all;
  for (const BlockPlace &block : blocks) ASSERT_EQ(decode_block(block, groups_of(block, made.groups), &all), nullptr);
  std::vector<PlacedTime> one;
  ASSERT_EQ(decode_block(blocks[2], groups_of(blocks[2], made.groups), &one), nullptr);
  for (size_t i = 0; i < one.size(); ++i) ASSERT_EQ(one[i].begin_ns, all[blocks[2].first_call + i].begin_ns);
}

TEST(Stream, AMutatedBlockIsNamedAndCostsThatBlockOnly) {
  const MadeUpTimes made = made_up_times(45'000)[2];
  const Coded written = coded(made, *mode_named("context"), 100'000);
  const std::vector<BlockPlace> blocks = blocks_of(written, made);
  ASSERT_EQ(blocks.size(), 3U);
  std::mt19937 random(4);
  for (int mutation = 0; mutation < 60; ++mutation) {
    Bytes bytes(blocks[1].bytes.begin(), blocks[1].bytes.end());
    bytes[mutation < 12 ? static_cast<size_t>(mutation) : random() % bytes.size()] ^=
        static_cast<uint8_t>(1 + random() % 255);
    BlockPlace mutated = blocks[1];
    mutated.bytes = bytes;
    std::vector<PlacedTime> times;
    ASSERT_NE(decode_block(mutated, groups_of(mutated, made.groups), &times), nullptr) << mutation;
    ASSERT_TRUE(times.empty());
  }
  std::vector<PlacedTime> last;
  EXPECT_EQ(decode_block(blocks[2], groups_of(blocks[2], made.groups), &last), nullptr);
}

TEST(Stream, OtherCallsAreNoticed) {
  const MadeUpTimes made = made_up_times(5'000)[2];
  const Coded written = coded(made, *mode_named("context"), 100'000);
  const std::vector<BlockPlace> blocks = blocks_of(written, made);
  std::vector<uint32_t> groups = groups_of(blocks[0], made.groups);
  std::swap(groups[2000], groups[2001]);
  std::vector<PlacedTime> times;
  ASSERT_NE(groups[2000], groups[2001]);
  EXPECT_NE(decode_block(blocks[0], groups, &times), nullptr);
}

TEST(Stream, CutShortIsNoticed) {
  const MadeUpTimes made = made_up_times(21'000)[3];
  const Coded written = coded(made, *mode_named("lossless"), 0);
  for (size_t cut = 1; cut < written.stream.size(); cut += 97) {
    std::vector<BlockPlace> blocks;
    size_t bad = 0;
    const ByteView shorter = ByteView(written.stream).first(cut);
    if (find_blocks(shorter, made.times.size(), &blocks, &bad)) {
      uint64_t bytes = 0;
      for (const BlockPlace &block : blocks) bytes = block.offset + 8;
      ASSERT_LT(bytes, cut);
      ASSERT_LT(blocks.size(), written.size.blocks);
    } else {
      ASSERT_LE(bad, cut);
    }
  }
  std::vector<BlockPlace> blocks;
  size_t bad = 0;
  EXPECT_FALSE(find_blocks(written.stream, made.times.size() - 1, &blocks, &bad)) << "more calls than there are";
}

}  // namespace
}  // namespace cairn::timing
