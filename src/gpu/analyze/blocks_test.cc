// Blocks by the clocks of their warps.
#include "gpu/analyze/blocks.h"

#include <gtest/gtest.h>

namespace cairn::analyze {
namespace {

/// Blocks of two warps. Multiprocessor 7's clock is far ahead of multiprocessor 2's.
gpu::LaunchRecord launch_of(std::vector<gpu::WarpClock> clocks) {
  gpu::LaunchRecord launch;
  launch.block = {64, 1, 1};
  launch.grid = {static_cast<uint32_t>(clocks.size() / 2), 1, 1};
  launch.processors = 4;
  for (uint32_t i = 0; i < clocks.size(); ++i) launch.warps.push_back({i, 0, {}});
  launch.clocks = std::move(clocks);
  return launch;
}

const std::vector<gpu::WarpClock> kClocks = {
    {2, true, 0, 100},    {2, true, 10, 50},    // block 0: 0 to 100 of multiprocessor 2
    {7, true, 5000, 30},  {7, true, 5000, 40},  // block 1: 0 to 40 of multiprocessor 7
    {2, true, 50, 100},   {2, true, 60, 100},   // block 2: 50 to 160
    {7, true, 5100, 100}, {7, false, 5100, 0},  // block 3: 100 to 200; one of its warps did not tell
};

TEST(Blocks, AreCountedByTheClockOfTheirMultiprocessor) {
  const auto found = blocks_of(launch_of(kClocks));
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->blocks.size(), 4U);
  EXPECT_EQ(found->unended, 1U);
  const std::vector<std::vector<uint64_t>> wanted = {{2, 0, 100}, {7, 0, 40}, {2, 50, 160}, {7, 100, 200}};
  for (size_t i = 0; i < wanted.size(); ++i) {
    const BlockTime &block = found->blocks[i];
    EXPECT_EQ(block.block, i);
    EXPECT_EQ((std::vector<uint64_t>{block.processor, block.begin, block.end}), wanted[i]) << i;
  }
  ASSERT_EQ(found->processors.size(), 2U);
  EXPECT_EQ(found->processors[0].busy, 160U);
  EXPECT_EQ(found->processors[1].busy, 140U);  // idle from 40 to 100
  EXPECT_EQ(found->processors[0].block_cycles, 210U);
  EXPECT_EQ(found->processors[0].end, 160U);
  EXPECT_DOUBLE_EQ(found->processors[0].mean_blocks(), 210.0 / 160.0);
  EXPECT_EQ(found->all_processors, 4U);
  EXPECT_EQ(found->cycles(), 200U);
  EXPECT_DOUBLE_EQ(found->busy(), 300.0 / 800.0);
  EXPECT_DOUBLE_EQ(found->balance(), 300.0 / 320.0);
  EXPECT_DOUBLE_EQ(found->idle_at_end(), 40.0 / 400.0);
  EXPECT_EQ(found->lost(), 500U);
}

TEST(Blocks, OverTimeAreAsManyAsThereWere) {
  const auto found = blocks_of(launch_of(kClocks));
  ASSERT_TRUE(found.has_value());
  // 50 cycles each: block 0 in the first two, block 2 in the second, the third and a fifth of the fourth.
  const std::vector<double> parts = blocks_over_time(*found, 2, 4);
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_DOUBLE_EQ(parts[0], 1);
  EXPECT_DOUBLE_EQ(parts[1], 2);
  EXPECT_DOUBLE_EQ(parts[2], 1);
  EXPECT_NEAR(parts[3], 0.2, 1e-9);
  EXPECT_EQ(blocks_over_time(*found, 99, 2), (std::vector<double>{0, 0}));
}

TEST(Blocks, OfAKernelAreThoseOfItsLaunches) {
  gpu::Launches launches;
  gpu::ProgramRecord program;
  program.kernels = {"one", "other"};
  const uint32_t number = launches.add(program);
  for (const uint32_t kernel : {0U, 1U, 0U}) {
    launches.launches.push_back(launch_of(kClocks));
    launches.launches.back().program = number;
    launches.launches.back().kernel = kernel;
  }
  launches.launches.emplace_back().program = number;  // without clocks
  const std::vector<KernelBlocks> all = kernel_blocks(launches);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].kernel, "one");
  EXPECT_EQ(all[0].launches, 2U);
  EXPECT_EQ(all[0].blocks, 8U);
  EXPECT_EQ(all[0].lost, 1000U);
  EXPECT_EQ(all[0].used, 4U);
  EXPECT_EQ(all[0].available, 8U);
  EXPECT_EQ(all[0].shortest, 40U);
  EXPECT_EQ(all[0].longest, 110U);
  EXPECT_EQ(all[0].most_busy, 640U);
  EXPECT_EQ(all[1].launches, 1U);
}

TEST(Blocks, AreNoneWithoutClocks) {
  EXPECT_FALSE(blocks_of(launch_of({})).has_value());
  const auto silent = blocks_of(launch_of({{2, false, 0, 0}, {2, false, 0, 0}}));
  ASSERT_TRUE(silent.has_value());
  EXPECT_EQ(silent->blocks.size(), 0U);
  EXPECT_EQ(silent->unended, 2U);
  EXPECT_EQ(silent->cycles(), 0U);
  EXPECT_DOUBLE_EQ(silent->balance(), 0);
  EXPECT_DOUBLE_EQ(silent->busy(), 0);
}

}  // namespace
}  // namespace cairn::analyze
