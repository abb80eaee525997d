#include "gpu/analyze/accesses.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace cairn::analyze {
namespace {

using gpu::Access;
using gpu::Space;

/// Lane i of 32 touches `bytes` bytes at begin + i * step.
AccessUse request(Space space, uint64_t begin, int64_t step, uint32_t bytes) {
  std::vector<Access> touched;
  std::vector<uint8_t> lanes(32);
  std::iota(lanes.begin(), lanes.end(), 0);
  for (int64_t lane = 0; lane < 32; ++lane) {
    touched.push_back({begin + static_cast<uint64_t>(lane * step), bytes, space});
  }
  return request_of(touched, lanes);
}

TEST(Accesses, SectorsOfGlobalMemory) {
  constexpr uint64_t kBegin = 0x7f0000000000;
  const auto sectors = [](uint64_t begin, int64_t step, uint32_t bytes) {
    return request(Space::global, begin, step, bytes).moved;
  };
  EXPECT_EQ(sectors(kBegin, 4, 4), 4U);
  EXPECT_EQ(sectors(kBegin + 4, 4, 4), 5U) << "begins within a sector";
  EXPECT_EQ(sectors(kBegin, -4, 4), 5U) << "31 words in front, and one";
  EXPECT_EQ(sectors(kBegin, 8, 4), 8U);
  EXPECT_EQ(sectors(kBegin, 4096, 4), 32U);
  EXPECT_EQ(sectors(kBegin, 0, 4), 1U);
  EXPECT_EQ(sectors(kBegin, 16, 16), 16U);
  EXPECT_EQ(sectors(kBegin + 30, 4096, 4), 64U) << "each lies in two";
  const AccessUse apart = request(Space::global, kBegin, 4096, 4);
  EXPECT_EQ(apart.requests, 1U);
  EXPECT_EQ(apart.lanes, 32U);
  EXPECT_EQ(apart.bytes, 128U);
  EXPECT_EQ(apart.least, 4U);
  EXPECT_EQ(apart.excess(), 28U);
  EXPECT_EQ(apart.efficiency(), 0.125);
  EXPECT_EQ(apart.steps, (std::map<int64_t, uint64_t>{{4096, 31}}));
  EXPECT_EQ(request(Space::global, kBegin, 0, 8).bytes, 8U) << "what all touch counts once";
}

TEST(Accesses, WavefrontsOfSharedMemory) {
  const auto wavefronts = [](int64_t step, uint32_t bytes) { return request(Space::shared, 0, step, bytes).moved; };
  EXPECT_EQ(wavefronts(4, 4), 1U);
  EXPECT_EQ(wavefronts(8, 4), 2U);
  EXPECT_EQ(wavefronts(128, 4), 32U) << "a column of 32 words";
  EXPECT_EQ(wavefronts(132, 4), 1U) << "of 33";
  EXPECT_EQ(wavefronts(0, 4), 1U) << "one word for all";
  EXPECT_EQ(wavefronts(1, 1), 1U) << "four lanes a word";
  EXPECT_EQ(wavefronts(8, 8), 2U) << "a half at a time";
  EXPECT_EQ(wavefronts(16, 16), 4U);
  EXPECT_EQ(wavefronts(12, 12), 3U) << "word by word";
  EXPECT_EQ(wavefronts(128, 8), 32U);
  EXPECT_EQ(request(Space::shared, 0, 128, 4).least, 1U);
  EXPECT_EQ(request(Space::shared, 0, 8, 8).least, 2U);
  EXPECT_EQ(request(Space::local, 0, 128, 4).moved, 0U);
}

/// Two warps that did the same, and one launch of it more; lanes 0 and 1 load from global memory, 2 from shared memory.
TEST(Accesses, AreAddedUpByPointAndMemory) {
  gpu::Launches made;
  gpu::ProgramRecord program;
  program.file = "k.cu";
  program.kernels = {"k"};
  program.locations = {{1, gpu::Kind::entry, "k", "k.cu", 1},
                       {2, gpu::Kind::load, "k", "k.cu", 2},
                       {3, gpu::Kind::value, "k", "k.cu", 3}};
  gpu::LaunchRecord launch;
  launch.program = made.add(std::move(program));
  const uint64_t first = bits_of(Access{4096, 4, Space::global});
  const uint64_t second = bits_of(Access{8192, 4, Space::global});
  const uint64_t third = bits_of(Access{64, 8, Space::shared});
  EXPECT_EQ(gpu::access_of(third).bytes, 8U);
  EXPECT_EQ(gpu::access_of(third).address, 64U);
  EXPECT_EQ(gpu::access_of(third).space, Space::shared);
  const std::vector<gpu::Event> events = {{1, 0xff},
                                          {2, 7, gpu::ValueType::u64, {first, second, third}},
                                          {3, 1, gpu::ValueType::u64, {first}},
                                          {2, 1, gpu::ValueType::u64, {first}}};
  const std::vector<uint32_t> words = gpu::encode_stream(made.form(launch), events, 0xff);
  gpu::StreamRecord record{events.size(), 0xff, Bytes(words.size() * 4)};
  std::memcpy(record.bytes.data(), words.data(), record.bytes.size());
  const uint32_t stream = made.add(std::move(record));
  launch.warps = {{0, 0, {stream}}, {1, 0, {stream}}};
  made.launches.push_back(launch);
  launch.warps = {{0, 0, {stream}}};
  made.launches.push_back(launch);
  const auto uses = gpu_accesses(made);
  ASSERT_TRUE(uses) << uses.error().message;
  ASSERT_EQ(uses->size(), 2U);
  EXPECT_EQ((*uses)[0].space, Space::global);
  EXPECT_EQ((*uses)[0].location, 2U);
  EXPECT_EQ((*uses)[0].requests, 6U);
  EXPECT_EQ((*uses)[0].lanes, 9U);
  EXPECT_EQ((*uses)[0].moved, 9U);
  EXPECT_EQ((*uses)[0].most, 2U);
  EXPECT_EQ((*uses)[0].steps, (std::map<int64_t, uint64_t>{{4096, 3}}));
  EXPECT_EQ((*uses)[1].space, Space::shared);
  EXPECT_EQ((*uses)[1].requests, 3U);
  EXPECT_EQ((*uses)[1].bytes, 24U);
}

}  // namespace
}  // namespace cairn::analyze
