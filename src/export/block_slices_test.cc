// Blocks in timelines are where their kernel is.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export/blocks.h"

namespace cairn::exporting {
namespace {

using testing::ElementsAre;

class Told : public TimelineWriter {
 public:
  void process(uint32_t process, const std::string &name) override {
    lines.push_back(fmt::format("{} {}", process, name));
  }
  void thread(const Track &track, const std::string &name) override {
    lines.push_back(fmt::format("{}.{} {}", track.process, track.thread, name));
  }
  void begin(const Track & /*track*/, uint64_t /*ns*/, const SliceBegin & /*slice*/) override { FAIL(); }
  void end(const Track & /*track*/, uint64_t /*ns*/, const std::vector<Detail> & /*details*/) override { FAIL(); }
  void slice(const Track &track, uint64_t ns, uint64_t length_ns, const SliceBegin &slice) override {
    lines.push_back(fmt::format("{}.{} block {}: {} to {}", track.process, track.thread, slice.details.at(1).number, ns,
                                ns + length_ns));
  }
  void mark(const Track & /*track*/, uint64_t /*ns*/, const SliceBegin & /*what*/, const Arrow & /*arrow*/) override {
    FAIL();
  }
  void counter(uint32_t /*process*/, const std::string & /*name*/, const char * /*unit*/, uint64_t /*ns*/,
               uint64_t /*value*/) override {
    FAIL();
  }
  void finish() override {}

  std::vector<std::string> lines;
};

class BlockSlicesTest : public testing::Test {
 protected:
  /// Three blocks of a warp one after the other, on one multiprocessor, for 100 cycles; the kernel ran for 200 ns.
  BlockSlicesTest() {
    gpu::ProgramRecord program;
    program.kernels = {"spin"};
    gpu::LaunchRecord launch;
    launch.program = launches_.add(program);
    launch.block = {32, 1, 1};
    launch.grid = {3, 1, 1};
    launch.processors = 1;
    for (uint32_t block = 0; block < 3; ++block) launch.warps.push_back({block, 0, {}});
    launch.clocks = {{0, true, 1000, 20}, {0, true, 1030, 20}, {0, true, 1060, 40}};
    launches_.launches.push_back(launch);
  }
  std::vector<std::string> drawn(int64_t began_ns, uint64_t begin_ns, uint64_t end_ns) {
    Kernels kernels;
    analyze::TimedLaunch timed{0, launches_.launches.data(), began_ns, began_ns};
    kernels.all.push_back({timed, 0, begin_ns, end_ns});
    Told told;
    write_blocks(launches_, with_clocks(kernels), 5, &told);
    return told.lines;
  }
  gpu::Launches launches_;
};

TEST_F(BlockSlicesTest, FillTheTimeOfTheirKernel) {
  EXPECT_THAT(drawn(500, 500, 700),
              ElementsAre("5 rank 0, GPU 0: blocks on its multiprocessors", "5.1 multiprocessor 0",
                          "5.1 block 0: 500 to 540", "5.1 block 1: 560 to 600", "5.1 block 2: 620 to 700"));
}

TEST_F(BlockSlicesTest, AreCutOffWhereTheAxisBegins) {
  EXPECT_THAT(drawn(-80, 0, 120), ElementsAre("5 rank 0, GPU 0: blocks on its multiprocessors", "5.1 multiprocessor 0",
                                              "5.1 block 1: 0 to 20", "5.1 block 2: 40 to 120"));
}

TEST_F(BlockSlicesTest, ShareWhatAStreamLeftOfTheirKernel) {
  EXPECT_THAT(drawn(500, 600, 700),
              ElementsAre("5 rank 0, GPU 0: blocks on its multiprocessors", "5.1 multiprocessor 0",
                          "5.1 block 0: 600 to 620", "5.1 block 1: 630 to 650", "5.1 block 2: 660 to 700"));
}

}  // namespace
}  // namespace cairn::exporting
