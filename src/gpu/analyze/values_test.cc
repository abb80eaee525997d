#include "gpu/analyze/values.h"

#include <gtest/gtest.h>

#include <cstring>

namespace cairn::analyze {
namespace {

using gpu::Event;
using gpu::ValueType;

/// Two warps that did the same, one that did something else, in two launches; point 2 has values, 3 has others.
gpu::Launches sample() {
  gpu::Launches made;
  gpu::ProgramRecord program;
  program.file = "k.cu";
  program.kernels = {"k"};
  program.locations = {{1, gpu::Kind::entry, "k", "k.cu", 1},
                       {2, gpu::Kind::value, "k", "k.cu", 2},
                       {3, gpu::Kind::value, "k", "k.cu", 3}};
  gpu::LaunchRecord launch;
  launch.program = made.add(std::move(program));
  launch.block = {64, 1, 1};
  launch.end_block = 1;
  const auto stream = [&](const std::vector<Event> &events) {
    const std::vector<uint32_t> words = gpu::encode_stream(made.form(launch), events, 0xffffffff);
    gpu::StreamRecord record{events.size(), 0xffffffff, Bytes(words.size() * 4)};
    std::memcpy(record.bytes.data(), words.data(), record.bytes.size());
    return made.add(std::move(record));
  };
  const uint32_t one = stream({{1, 0xff},
                               {2, 0x5, ValueType::i32, {7, 0xffffffff}},
                               {3, 1, ValueType::u32, {9}},
                               {2, 0x2, ValueType::f64, {0xc004000000000000}}});
  const uint32_t other = stream({{2, 0x80000000, ValueType::u64, {uint64_t{1} << 40}}});
  launch.warps = {{0, 0, {one}}, {1, 0, {other}}};
  made.launches.push_back(launch);
  launch.warps = {{1, 0, {one, other}}};
  made.launches.push_back(launch);
  return made;
}

TEST(GpuValues, AreColumnsInOrder) {
  const auto got = gpu_values(sample(), 0, 2);
  ASSERT_TRUE(got.has_value()) << got.error().message;
  ASSERT_EQ(got->size(), 8);
  EXPECT_EQ(got->launch, (std::vector<uint32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(got->warp, (std::vector<uint32_t>{0, 0, 0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(got->event, (std::vector<uint64_t>{1, 1, 3, 0, 1, 1, 3, 4}));
  EXPECT_EQ(got->lane, (std::vector<uint8_t>{0, 2, 1, 31, 0, 2, 1, 31}));
  const double wanted[] = {7, -1, -2.5, 1099511627776.0};
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(got->number(i), wanted[i % 4]);
}

TEST(GpuValues, AreOfTheirPointAlone) {
  EXPECT_EQ(gpu_values(sample(), 0, 3)->bits, (std::vector<uint64_t>{9, 9}));
  EXPECT_EQ(gpu_values(sample(), 0, 1)->size(), 0);
  EXPECT_EQ(gpu_values(sample(), 1, 2)->size(), 0);
}

TEST(GpuValues, ADamagedStreamIsAnError) {
  gpu::Launches launches = sample();
  launches.streams[0].bytes.resize(8);
  const auto got = gpu_values(launches, 0, 2);
  ASSERT_FALSE(got.has_value());
  EXPECT_NE(got.error().message.find("of warp 0 in launch 0"), std::string::npos) << got.error().message;
}

}  // namespace
}  // namespace cairn::analyze
