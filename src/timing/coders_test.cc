// The promise of every coder of blocks: every duration and every gap is within its bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "timing/binning.h"
#include "timing/bins_coder.h"
#include "timing/cfg_coder.h"
#include "timing/context_coder.h"
#include "timing/group_numbers.h"
#include "timing/hist_coder.h"
#include "timing/made_up_times.h"
#include "timing/sz_coder.h"
#include "timing/zfp_coder.h"

namespace cairn::timing {
namespace {

struct Coder {
  const char *name;
  Encode encode;
  Decode decode;
  bool relative;
};
constexpr Coder kCoders[] = {
    {"context", encode_context, decode_context, true},
    {"bins", encode_bins, decode_bins, true},
    {"hist", encode_hist, decode_hist, true},
    {"hist of 10 bits and 10,000 samples",
     [](const BlockCalls &calls, std::span<CallTime> times, Bytes *out) {
       encode_hist(calls, times, {10, 10000}, out);
     },
     decode_hist, true},
    {"cfg", encode_cfg, decode_cfg, true},
    {"sz", encode_sz, decode_sz, true},
    {"sz_clustered", encode_sz_clustered, decode_sz_clustered, true},
    {"zfp", encode_zfp, decode_zfp, false},
    {"zfp_clustered", encode_zfp_clustered, decode_zfp_clustered, false},
};
// 0 is exact.
constexpr std::array<uint64_t, 5> kRelative = {100'000, 10'000, 0, 1'000'000, 100};
constexpr std::array<uint64_t, 5> kAbsolute = {10'000, 1'000'000, 1, 0, UINT64_MAX};

std::span<const uint64_t> bounds_of(const Coder &coder) {
  return coder.relative ? std::span<const uint64_t>(kRelative) : std::span<const uint64_t>(kAbsolute);
}

struct Block {
  std::string name;
  std::vector<uint32_t> groups;
  std::vector<uint64_t> bounds;
  std::vector<CallTime> times;
  [[nodiscard]] BlockCalls calls() const { return {groups, bounds}; }
};

/// Calls of a longer sequence; the groups of it have these bounds, in turn.
Block block_of(const MadeUpTimes &made, std::span<const uint64_t> bounds, size_t first, size_t count) {
  GroupNumbers numbers;
  numbers.begin_block();
  Block block{made.name, {}, {}, {}};
  for (size_t call = first; call < first + count; ++call) {
    numbers.add(made.groups[call], bounds[made.groups[call] % bounds.size()]);
    block.times.push_back(made.times[call]);
  }
  block.groups.assign(numbers.calls().groups.begin(), numbers.calls().groups.end());
  block.bounds.assign(numbers.calls().bounds.begin(), numbers.calls().bounds.end());
  return block;
}

Block whole(const MadeUpTimes &made, std::span<const uint64_t> bounds) {
  return block_of(made, bounds, 0, made.times.size());
}

/// Where bins begin and end, where doubles stop being exact, and where each time is new or far from the one before.
std::vector<MadeUpTimes> nasty_times(size_t calls) {
  std::mt19937_64 random(7);
  const Binning edges(100'000);
  const auto like = [&](const char *name, auto value) {
    MadeUpTimes made{name, looping_groups(calls, 5), {}};
    for (size_t call = 0; call < calls; ++call) {
      const uint64_t gap = value(call);
      made.times.push_back({gap, value(call)});
    }
    return made;
  };
  return {
      like("edges of bins",
           [&](size_t) {
             const uint64_t value = edges.value(static_cast<uint32_t>(random() % edges.count()));
             return value + random() % 2 * (value / 9) + random() % 3 - 1;
           }),
      like("around 2^52",
           [&](size_t) {
             return (uint64_t{1} << 52) + random() % 5 - 2 - (random() % 11 == 0 ? uint64_t{1} << 51 : 0);
           }),
      like("alternating", [&](size_t call) { return call % 2 == 0 ? 3 : uint64_t{1} << 40; }),
      like("any bits", [&](size_t) { return random() >> random() % 64; }),
      like("one of each", [&](size_t call) { return uint64_t{call}; }),
  };
}

std::vector<MadeUpTimes> all_times(size_t calls) {
  std::vector<MadeUpTimes> all = made_up_times(calls);
  for (MadeUpTimes &made : nasty_times(calls)) all.push_back(std::move(made));
  return all;
}

bool within(uint64_t exact, uint64_t decoded, uint64_t bound, bool relative) {
  __extension__ using Wide = unsigned __int128;
  const uint64_t off = exact > decoded ? exact - decoded : decoded - exact;
  return relative ? Wide{off} * kMostBound <= Wide{exact} * bound : off <= bound;
}

/// Gives the size of the bytes.
size_t expect_every_duration_and_every_gap_is_within_its_bound(const Coder &coder, const Block &block) {
  Bytes bytes;
  std::vector<CallTime> told = block.times;
  coder.encode(block.calls(), told, &bytes);
  std::vector<CallTime> back(block.times.size());
  EXPECT_TRUE(coder.decode(block.calls(), bytes, back));
  EXPECT_TRUE(back == told) << "the encoder's times are the decoder's";
  size_t outside = 0;
  for (size_t call = 0; call < back.size(); ++call) {
    const uint64_t bound = block.bounds[block.groups[call]];
    outside += within(block.times[call].gap, back[call].gap, bound, coder.relative) ? 0 : 1;
    outside += within(block.times[call].duration, back[call].duration, bound, coder.relative) ? 0 : 1;
  }
  EXPECT_EQ(outside, 0U) << "every duration and every gap is within its bound";
  return bytes.size();
}

TEST(Coders, EveryDurationAndEveryGapIsWithinItsBound) {
  const std::vector<MadeUpTimes> all = all_times(1500);
  for (const Coder &coder : kCoders) {
    for (const MadeUpTimes &made : all) {
      for (const uint64_t bound : bounds_of(coder)) {
        for (const size_t count : {made.times.size(), size_t{1}, size_t{2}, size_t{5}}) {
          if (bound == kLeastBound && count < made.times.size()) break;  // its bins alone take milliseconds
          SCOPED_TRACE(std::string(coder.name) + ", " + made.name + ", bound " + std::to_string(bound));
          expect_every_duration_and_every_gap_is_within_its_bound(coder, block_of(made, {&bound, 1}, 0, count));
        }
      }
      SCOPED_TRACE(std::string(coder.name) + ", " + made.name + ", several bounds");
      expect_every_duration_and_every_gap_is_within_its_bound(coder, whole(made, bounds_of(coder).first(4)));
    }
    SCOPED_TRACE(std::string(coder.name) + ", no calls");
    expect_every_duration_and_every_gap_is_within_its_bound(coder, {});
  }
}

/// A million calls of each kind of times.
class Millions : public ::testing::TestWithParam<size_t> {};
TEST_P(Millions, EveryDurationAndEveryGapIsWithinItsBound) {
  constexpr size_t kCalls = 1'000'000;
  constexpr size_t kBlock = 65'536;
  const MadeUpTimes made = made_up_times(kCalls).at(GetParam());
  for (const Coder &coder : kCoders) {
    SCOPED_TRACE(std::string(coder.name) + ", " + made.name);
    size_t size = 0;
    for (size_t first = 0; first < kCalls; first += kBlock) {
      size += expect_every_duration_and_every_gap_is_within_its_bound(
          coder, block_of(made, bounds_of(coder).first(1), first, std::min(kBlock, kCalls - first)));
    }
    if (made.name == "constant") {
      EXPECT_LT(size, kCalls * sizeof(CallTime) / (coder.relative ? 40 : 15)) << "what never changes is short";
    }
  }
}
std::string kind_of(const ::testing::TestParamInfo<size_t> &kind) {
  std::string name = made_up_times(1)[kind.param].name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return name;
}
/// Constant times, and Pareto's, which lie over twelve orders of magnitude: each time. The others with what takes long.
constexpr size_t kFew[] = {0, 5};
INSTANTIATE_TEST_SUITE_P(Few, Millions, ::testing::ValuesIn(kFew), kind_of);
std::vector<size_t> others() {
  std::vector<size_t> kinds;
  for (size_t kind = 0; kind < made_up_times(1).size(); ++kind) {
    if (std::find(std::begin(kFew), std::end(kFew), kind) == std::end(kFew)) kinds.push_back(kind);
  }
  return kinds;
}
INSTANTIATE_TEST_SUITE_P(Others, Millions, ::testing::ValuesIn(others()), kind_of);

TEST(Coders, TheLongestBlockGoesThrough) {
  const MadeUpTimes made = made_up_times(kMostBlockCalls)[2];
  for (const Coder &coder : kCoders) {
    SCOPED_TRACE(coder.name);
    expect_every_duration_and_every_gap_is_within_its_bound(coder, whole(made, bounds_of(coder)));
  }
}

Bytes encoded(const Coder &coder, const Block &block) {
  Bytes bytes;
  std::vector<CallTime> times = block.times;
  coder.encode(block.calls(), times, &bytes);
  return bytes;
}

TEST(Coders, AppendTheSameBytesAndRefuseOthers) {
  const MadeUpTimes made = made_up_times(700)[2];
  for (const Coder &coder : kCoders) {
    SCOPED_TRACE(coder.name);
    const Block block = whole(made, bounds_of(coder).first(3));
    Bytes alone = encoded(coder, block);
    Bytes bytes{1, 2, 3};
    std::vector<CallTime> back = block.times;
    coder.encode(block.calls(), back, &bytes);
    EXPECT_EQ(Bytes(bytes.begin() + 3, bytes.end()), alone);
    alone.push_back(0);
    // An arithmetic coder's bytes alone don't tell where they end: the check of a block does.
    if (coder.encode != encode_context) {
      EXPECT_FALSE(coder.decode(block.calls(), alone, back)) << "a byte too many";
      EXPECT_FALSE(coder.decode(block.calls(), {}, back)) << "no bytes";
    }
    back.resize(back.size() - 1);
    alone.pop_back();
    EXPECT_FALSE(coder.decode(block.calls(), alone, back)) << "a call without room";
  }
}

TEST(Coders, RefuseBoundsThatAreNone) {
  const uint64_t usual = 100'000;
  const MadeUpTimes made = made_up_times(10)[0];
  for (const Coder &coder : kCoders) {
    if (!coder.relative) continue;
    Block block = whole(made, {&usual, 1});
    const Bytes bytes = encoded(coder, block);
    for (const uint64_t bound : {uint64_t{99}, uint64_t{1'000'001}, UINT64_MAX}) {
      block.bounds.assign(block.bounds.size(), bound);
      EXPECT_FALSE(coder.decode(block.calls(), bytes, block.times)) << coder.name << " " << bound;
    }
    block.bounds.assign(1, usual);
    EXPECT_FALSE(coder.decode(block.calls(), bytes, block.times)) << coder.name << ": groups without bounds";
  }
}

TEST(Coders, SurviveBytesThatWereChanged) {
  std::mt19937 random(3);
  const std::vector<MadeUpTimes> all = all_times(300);
  for (const Coder &coder : kCoders) {
    for (const MadeUpTimes &made : all) {
      const Block block = whole(made, bounds_of(coder).first(2));
      const Bytes bytes = encoded(coder, block);
      std::vector<CallTime> back(block.times.size());
      for (int i = 0; i < 100; ++i) {
        Bytes broken = bytes;
        for (auto flips = 1 + random() % 3; flips > 0; --flips) {
          broken[random() % broken.size()] ^= static_cast<uint8_t>(1U << (random() % 8));
        }
        if (i % 3 == 0) broken.resize(random() % broken.size());
        coder.decode(block.calls(), broken, back);
      }
    }
  }
}

/// Rules, each of which is the next one alone: every symbol lies as deep as there are rules.
TEST(Coders, DeepRulesTakeNoTime) {
  constexpr uint64_t kRules = 200'000;
  ByteWriter grammar;
  grammar.varint(kRules);
  grammar.varint(1);
  grammar.varint(7);  // the next rule, repeated
  grammar.varint(kMostBlockCalls - 2);
  for (uint64_t rule = 1; rule + 1 < kRules; ++rule) {
    grammar.varint(1);
    grammar.varint(5);  // the next rule, once
  }
  grammar.varint(1);
  grammar.varint(4);  // symbol 1
  ByteWriter bytes;
  for (int series = 0; series < 2; ++series) {
    bytes.varint(grammar.size());
    bytes.byte(0);  // as they are
    bytes.raw(grammar.view());
  }
  const uint64_t bound = 100'000;
  Block block = whole(made_up_times(kMostBlockCalls)[0], {&bound, 1});
  ASSERT_TRUE(decode_cfg(block.calls(), bytes.view(), block.times));
  for (const CallTime &time : block.times) ASSERT_EQ(time, (CallTime{1, 1}));
}

}  // namespace
}  // namespace cairn::timing
