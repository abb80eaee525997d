/// What the tests of streams of times have in common: made-up times written as a stream, and whether what is read back
/// keeps the promises of its mode.
#pragma once

#include <gtest/gtest.h>

#include "timing/group_numbers.h"
#include "timing/made_up_times.h"
#include "timing/stream.h"

namespace cairn::timing {

__extension__ using Wide = unsigned __int128;

inline uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }
inline bool within(uint64_t value, uint64_t read, uint64_t bound) {
  return static_cast<Wide>(distance(value, read)) * 1'000'000 <= static_cast<Wide>(value) * bound;
}

/// The groups of a block of a sequence whose calls have these.
inline std::vector<uint32_t> groups_of(const BlockPlace &block, const std::vector<uint32_t> &groups) {
  GroupNumbers numbers;
  numbers.begin_block();
  for (uint64_t i = 0; i < block.calls; ++i) numbers.add(groups[block.first_call + i]);
  const BlockCalls calls = numbers.calls();
  return {calls.groups.begin(), calls.groups.end()};
}

struct Coded {
  Bytes stream;
  StreamSize size;
};

inline Coded coded(const MadeUpTimes &made, const Mode &mode, uint64_t bound) {
  std::vector<uint64_t> bounds(10'000, bound);
  Coded result;
  result.stream = encode_stream(mode, made.groups, bounds, made.times, &result.size);
  return result;
}

inline std::vector<BlockPlace> blocks_of(const Coded &written, const MadeUpTimes &made) {
  std::vector<BlockPlace> blocks;
  size_t bad = 0;
  EXPECT_TRUE(find_blocks(written.stream, made.times.size(), &blocks, &bad)) << made.name << ", byte " << bad;
  return blocks;
}

inline void expect_promises_kept(const MadeUpTimes &made, const Mode &mode, uint64_t bound) {
  const Coded written = coded(made, mode, bound);
  const std::vector<BlockPlace> blocks = blocks_of(written, made);
  ASSERT_EQ(blocks.size(), written.size.blocks);
  std::vector<PlacedTime> read;
  uint64_t clock = 0;
  uint64_t before = 0;
  uint64_t worst = 0;
  for (const BlockPlace &block : blocks) {
    read.clear();
    ASSERT_EQ(decode_block(block, groups_of(block, made.groups), &read), nullptr) << made.name;
    ASSERT_EQ(read.size(), block.calls);
    for (size_t i = 0; i < read.size(); ++i) {
      const CallTime &exact = made.times[block.first_call + i];
      // Every duration and every gap is within its bound.
      ASSERT_TRUE(within(exact.gap, read[i].time.gap, bound)) << made.name << ": " << exact.gap;
      ASSERT_TRUE(within(exact.duration, read[i].time.duration, bound)) << made.name << ": " << exact.duration;
      // The clock of a call, put together from these, is off by no more than what gathers since the last anchor.
      const auto saturating = [](uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; };
      const uint64_t begin = saturating(clock, exact.gap);
      clock = saturating(begin, exact.duration);
      worst = std::max(worst, distance(read[i].begin_ns, begin));
      ASSERT_LE(distance(read[i].begin_ns, begin), block.clock_error_ns) << made.name;
      ASSERT_GE(read[i].begin_ns, before) << made.name;
      before = saturating(read[i].begin_ns, read[i].time.duration);
    }
  }
  ASSERT_EQ(clock != 0, made.name != "zero");
  EXPECT_LE(worst, written.size.clock_error_ns);
  if (bound == 0) {
    EXPECT_EQ(written.size.clock_error_ns, 0U);
  }
}

}  // namespace cairn::timing
