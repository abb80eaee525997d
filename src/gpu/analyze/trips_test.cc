// How often loops turn, lane by lane, and warps as stacks.
#include "gpu/analyze/trips.h"

#include <gtest/gtest.h>

#include <cstring>

#include "gpu/analyze/folded.h"

namespace cairn::analyze {
namespace {

using gpu::Kind;

/// k: entry 1; loop 2 { then 3; loop 4 {} }; point 5. f: entry 6.
gpu::ProgramRecord program() {
  gpu::ProgramRecord made;
  made.file = "k.cu";
  made.kernels = {"k"};
  const auto add = [&](uint16_t id, Kind kind, const char *function) {
    made.locations.push_back({id, kind, function, "src/k.cu", id * 10U});
  };
  add(1, Kind::entry, "k");
  add(2, Kind::loop, "k");
  add(3, Kind::then, "k");
  add(4, Kind::loop, "k");
  add(5, Kind::point, "k");
  add(6, Kind::entry, "f;g");
  made.successors = {{0, 1}, {1, 2}, {1, 5}, {2, 3}, {2, 4}, {3, 6}, {3, 4}, {4, 4}, {4, 2}, {4, 5}, {2, 2}, {2, 5}};
  return made;
}

/// One launch of warps that had these events.
gpu::Launches launches_of(const std::vector<std::vector<gpu::Event>> &warps) {
  gpu::Launches launches;
  gpu::LaunchRecord launch;
  launch.program = launches.add(program());
  uint32_t index = 0;
  for (const std::vector<gpu::Event> &events : warps) {
    const std::vector<uint32_t> words = gpu::encode_stream(launches.form(launch), events, UINT32_MAX);
    gpu::StreamRecord record{events.size(), UINT32_MAX, Bytes(words.size() * sizeof(uint32_t))};
    std::memcpy(record.bytes.data(), words.data(), record.bytes.size());
    launch.warps.push_back({index++, 0, {launches.add(std::move(record))}});
  }
  launches.launches.push_back(launch);
  return launches;
}

/// The outer loop turns twice for lane 0, and three times for lane 1; the inner one, come to twice, once and then once
/// for lane 0, twice for lane 1.
const std::vector<gpu::Event> kUneven = {{1, 3}, {2, 3}, {4, 3}, {2, 3}, {3, 1},
                                         {6, 1}, {4, 3}, {4, 2}, {2, 2}, {5, 3}};

TEST(Trips, AreCountedLaneByLane) {
  const std::vector<gpu::Event> even = {{1, 3}, {2, 3}, {2, 3}, {5, 3}};
  const auto found = loop_trips(launches_of({kUneven, even, kUneven}));
  ASSERT_TRUE(found.has_value()) << found.error().message;
  ASSERT_EQ(found->size(), 2U);
  const LoopTrips &outer = (*found)[0].location == 2 ? (*found)[0] : (*found)[1];
  const LoopTrips &inner = (*found)[0].location == 2 ? (*found)[1] : (*found)[0];
  EXPECT_EQ(outer.times, 3U);
  EXPECT_EQ(outer.turns, 8U);
  EXPECT_EQ(outer.lanes, 6U);
  EXPECT_EQ(outer.lane_turns, 14U);
  EXPECT_EQ(outer.lost, 2U);
  EXPECT_EQ(outer.least, 2U);
  EXPECT_EQ(outer.most, 3U);
  EXPECT_EQ(outer.lanes_by_turns, (std::map<uint64_t, uint64_t>{{2, 6}}));
  EXPECT_DOUBLE_EQ(outer.efficiency(), 14.0 / 16.0);
  EXPECT_EQ(inner.location, 4);
  EXPECT_EQ(inner.times, 4U);
  EXPECT_EQ(inner.turns, 6U);
  EXPECT_EQ(inner.lost, 2U);
  EXPECT_EQ(inner.lanes_by_turns, (std::map<uint64_t, uint64_t>{{1, 6}, {2, 2}}));
  EXPECT_TRUE(loop_trips(launches_of({{{1, 3}, {5, 3}}}))->empty());
}

TEST(Folded, StacksWeighLanes) {
  const gpu::Launches launches = launches_of({kUneven, kUneven});
  using Stacks = std::map<std::string, uint64_t>;
  EXPECT_EQ(*folded_stacks(launches, Weight::lanes), (Stacks{{"k;k.cu:10 entry", 4},
                                                             {"k;k.cu:50 point", 4},
                                                             {"k;loop k.cu:20;f,g;k.cu:60 entry", 2},
                                                             {"k;loop k.cu:20;k.cu:20 loop", 10},
                                                             {"k;loop k.cu:20;k.cu:30 then", 2},
                                                             {"k;loop k.cu:20;loop k.cu:40;k.cu:40 loop", 10}}));
  EXPECT_EQ(folded_stacks(launches, Weight::visits)->at("k;loop k.cu:20;k.cu:20 loop"), 6U);
  EXPECT_EQ(folded_stacks(launches, Weight::lost)->at("k;loop k.cu:20;k.cu:30 then"), 62U);
}

TEST(Folded, ADamagedStreamIsAnError) {
  gpu::Launches launches = launches_of({kUneven});
  launches.streams[0].bytes.resize(2);
  const auto got = folded_stacks(launches, Weight::lanes);
  ASSERT_FALSE(got.has_value());
  EXPECT_NE(got.error().message.find("of warp 0 in launch 0"), std::string::npos) << got.error().message;
  EXPECT_FALSE(loop_trips(launches).has_value());
}

}  // namespace
}  // namespace cairn::analyze
