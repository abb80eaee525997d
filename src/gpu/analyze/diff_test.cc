#include "gpu/analyze/diff.h"

#include <gtest/gtest.h>

#include <cstring>

#include "gpu/analyze/pairing.h"

namespace cairn::analyze {
namespace {

using gpu::Event;
using gpu::Kind;

struct Source {
  std::vector<gpu::LocationRecord> locations{
      {1, Kind::entry, "k", "k.cu", 1}, {2, Kind::loop, "k", "k.cu", 2}, {3, Kind::then, "k", "k.cu", 3}};
  uint64_t hash = 1;
  std::vector<std::pair<uint16_t, uint16_t>> successors{{0, 1}, {1, 2}, {2, 3}};
};

/// One launch; a list of events for each warp.
class Made {
 public:
  explicit Made(Source source = {}) : source_(std::move(source)) {}

  Made &launch(const std::string &kernel, const std::vector<std::vector<Event>> &warps, uint32_t rank = 0,
               bool ring = false, uint64_t lost = 0) {
    gpu::ProgramRecord program;
    program.file = "k.cu";
    program.source_hash = source_.hash;
    program.kernels = {"a", "b", "c"};
    program.locations = source_.locations;
    program.successors = source_.successors;
    gpu::LaunchRecord launch;
    launch.rank = rank;
    launch.program = launches.add(program);
    launch.kernel = static_cast<uint32_t>(kernel[0] - 'a');
    launch.grid = {static_cast<uint32_t>(warps.size()), 1, 1};
    launch.block = {32, 1, 1};
    launch.end_block = launch.grid[0];
    launch.ring = ring;
    gpu::StreamForm form;
    form.guesses = program.guesses();
    for (uint32_t warp = 0; warp < warps.size(); ++warp) {
      const auto words = gpu::encode_stream(form, warps[warp], 0xffffffff);
      gpu::StreamRecord stream{warps[warp].size(), 0xffffffff, Bytes(words.size() * 4)};
      std::memcpy(stream.bytes.data(), words.data(), stream.bytes.size());
      launch.warps.push_back({warp, lost, {launches.add(std::move(stream))}});
    }
    launches.launches.push_back(std::move(launch));
    return *this;
  }
  gpu::Launches launches;

 private:
  Source source_;
};

std::vector<Event> loop(uint64_t times, uint64_t odd = UINT64_MAX) {
  std::vector<Event> events{{1, 0xffffffff}};
  for (uint64_t i = 0; i < times; ++i) events.push_back({2, i == odd ? 0xffu : 0xffffffffu});
  return events;
}

TEST(GpuDiff, EqualRunsAreEqual) {
  const auto a = Made().launch("a", {loop(4), loop(5)}).launch("b", {loop(1)});
  const auto diff = gpu_diff(a.launches, a.launches, false);
  ASSERT_TRUE(diff);
  EXPECT_TRUE(diff->equal());
  ASSERT_EQ(diff->launches.size(), 2);
  EXPECT_EQ(diff->launches[0].warps, 2);
}

TEST(GpuDiff, FindsTheFirstEventThatDiffers) {
  // On both sides of what is compared at a time.
  for (const uint64_t odd : {uint64_t{0}, uint64_t{4094}, uint64_t{4095}, uint64_t{4096}, uint64_t{20'000}}) {
    const auto a = Made().launch("a", {loop(30'000), loop(9), loop(30'000)});
    const auto b = Made().launch("a", {loop(30'000, odd), loop(9), loop(30'000, odd)});
    const auto diff = gpu_diff(a.launches, b.launches, false);
    ASSERT_TRUE(diff);
    ASSERT_EQ(diff->launches[0].differences.size(), 1);
    const GpuWarpDifference &difference = diff->launches[0].differences[0];
    EXPECT_EQ(difference.warps, (std::vector<uint32_t>{0, 2}));
    EXPECT_EQ(difference.event, odd + 1);
    EXPECT_EQ(difference.first, (Event{2, 0xffffffff}));
    EXPECT_EQ(difference.second, (Event{2, 0xff}));
    EXPECT_FALSE(diff->equal());
  }
}

TEST(GpuDiff, OneThatEndsEarlierDiffersThere) {
  for (const uint64_t length : {uint64_t{3}, uint64_t{4095}, uint64_t{4096}}) {
    const auto a = Made().launch("a", {loop(length)});
    const auto b = Made().launch("a", {loop(length + 1)});
    const auto diff = gpu_diff(a.launches, b.launches, false);
    ASSERT_TRUE(diff);
    const GpuWarpDifference &difference = diff->launches[0].differences.at(0);
    EXPECT_EQ(difference.event, length + 1);
    EXPECT_FALSE(difference.first);
    EXPECT_EQ(difference.second, (Event{2, 0xffffffff}));
    EXPECT_EQ(difference.events_first, length + 1);
  }
}

TEST(GpuDiff, PiecesOfASplitWarpAreOneEventIfAsked) {
  const auto a = Made().launch("a", {{{1, 0xff}, {2, 0x0f}, {2, 0xf0}, {3, 0xff}}});
  const auto b = Made().launch("a", {{{1, 0xff}, {2, 0xff}, {3, 0x0f}, {3, 0xf0}}});
  EXPECT_FALSE(gpu_diff(a.launches, b.launches, false)->equal());
  EXPECT_TRUE(gpu_diff(a.launches, b.launches, true)->equal());
}

TEST(GpuDiff, CodeThatMovedIsTheSame) {
  Source edited;
  edited.hash = 2;
  edited.locations = {{1, Kind::entry, "fresh", "k.cu", 1},
                      {2, Kind::entry, "k", "k.cu", 5},
                      {3, Kind::label, "k", "k.cu", 6},
                      {4, Kind::loop, "k", "k.cu", 7},
                      {5, Kind::then, "k", "k.cu", 3}};
  edited.successors = {{0, 2}};
  const auto a = Made().launch("a", {{{1, 0xff}, {2, 0xff}, {3, 0x0f}}});
  const auto b = Made(edited).launch("a", {{{2, 0xff}, {4, 0xff}, {5, 0x0f}}});
  const auto diff = gpu_diff(a.launches, b.launches, false);
  ASSERT_TRUE(diff);
  EXPECT_TRUE(diff->equal());
  ASSERT_EQ(diff->programs.size(), 1);
  EXPECT_TRUE(diff->programs[0].edited);
  EXPECT_EQ(diff->programs[0].moved, (std::vector<std::pair<uint16_t, uint16_t>>{{1, 2}, {2, 4}}));
  EXPECT_EQ(diff->programs[0].fresh, (std::vector<uint16_t>{1, 3}));
  // The same number in the other source is another point.
  const auto c = Made(edited).launch("a", {{{1, 0xff}, {2, 0xff}, {3, 0x0f}}});
  EXPECT_EQ(gpu_diff(a.launches, c.launches, false)->launches[0].differences.at(0).event, 0);
}

TEST(GpuDiff, TheSameBytesOfAnotherTextAreDecoded) {
  // With other guesses, the same bits are other events.
  Source other;
  other.successors = {{0, 1}, {1, 3}, {3, 2}};
  auto a = Made().launch("a", {{{1, 0xffffffff}, {2, 0xffffffff}, {3, 0xffffffff}}});
  auto b = Made(other).launch("a", {{{1, 0xffffffff}, {3, 0xffffffff}, {2, 0xffffffff}}});
  ASSERT_EQ(a.launches.streams, b.launches.streams);
  EXPECT_EQ(gpu_diff(a.launches, b.launches, false)->launches[0].differences.at(0).event, 1);
}

TEST(GpuDiff, LaunchesArePairedInOrder) {
  const auto a = Made().launch("a", {loop(1)}).launch("b", {loop(2)}).launch("c", {loop(3)}).launch("a", {loop(4)}, 1);
  const auto b =
      Made().launch("a", {loop(1)}).launch("c", {loop(3)}).launch("a", {loop(4)}, 1).launch("b", {loop(1)}, 1);
  const auto diff = gpu_diff(a.launches, b.launches, false);
  ASSERT_TRUE(diff);
  std::vector<std::pair<int, int>> pairs;
  for (const GpuLaunchPair &pair : diff->launches) {
    pairs.emplace_back(pair.first ? static_cast<int>(*pair.first) : -1,
                       pair.second ? static_cast<int>(*pair.second) : -1);
    EXPECT_EQ(pair.differing, 0);
  }
  EXPECT_EQ(pairs, (std::vector<std::pair<int, int>>{{0, 0}, {1, -1}, {2, 1}, {3, 2}, {-1, 3}}));
  EXPECT_FALSE(diff->equal());
}

TEST(GpuDiff, AnotherGridIsADifference) {
  const auto a = Made().launch("a", {loop(1), loop(2)});
  const auto b = Made().launch("a", {loop(1)});
  const auto diff = gpu_diff(a.launches, b.launches, false);
  ASSERT_TRUE(diff);
  EXPECT_FALSE(diff->launches[0].same_shape);
  EXPECT_EQ(diff->launches[0].unpaired, 1);
  EXPECT_FALSE(diff->equal());
}

TEST(GpuDiff, WhatIsNotKeptCannotDiffer) {
  const auto events = loop(300, 100);
  const auto tail = [&](size_t lost) {
    return std::vector<Event>(events.begin() + static_cast<std::ptrdiff_t>(lost), events.end());
  };
  const auto a = Made().launch("a", {tail(50)}, 0, true, 50);
  const auto b = Made().launch("a", {tail(80)}, 0, true, 80);
  const auto diff = gpu_diff(a.launches, b.launches, false);
  ASSERT_TRUE(diff);
  EXPECT_TRUE(diff->equal());
  EXPECT_EQ(diff->launches[0].cut, 1);
  auto other = events;
  other[90].mask = 1;
  other[60].mask = 1;
  const auto c = Made().launch("a", {{other.begin() + 80, other.end()}}, 0, true, 80);
  EXPECT_EQ(gpu_diff(a.launches, c.launches, false)->launches[0].differences.at(0).event, 90);
}

TEST(Pairing, IsTheHeaviestInOrder) {
  const auto pairs_of = [](const std::string &a, const std::string &b) {
    return pairing(a.size(), b.size(), 1, [&](size_t i, size_t j) { return a[i] == b[j] ? 1u : 0u; });
  };
  using Pairs = std::vector<std::pair<size_t, size_t>>;
  EXPECT_EQ(pairs_of("abc", "abc"), (Pairs{{0, 0}, {1, 1}, {2, 2}}));
  EXPECT_EQ(pairs_of("abxcd", "abcd"), (Pairs{{0, 0}, {1, 1}, {3, 2}, {4, 3}}));
  EXPECT_EQ(pairs_of("xaybz", "ab"), (Pairs{{1, 0}, {3, 1}}));
  EXPECT_EQ(pairs_of("", "ab"), Pairs());
  EXPECT_EQ(pairs_of("aa", "a"), (Pairs{{0, 0}}));
  EXPECT_EQ(pairs_of(std::string(5000, 'a') + "b", "c" + std::string(5000, 'a')).size(), 4999);
}

}  // namespace
}  // namespace cairn::analyze
