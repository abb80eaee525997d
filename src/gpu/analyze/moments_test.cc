#include "gpu/analyze/moments.h"

#include <gtest/gtest.h>

#include "gpu/analyze/stream_rows.h"
#include "gpu/file/collect.h"

namespace cairn::analyze {
namespace {

gpu::Launches launches_of_two_kernels(size_t count) {
  gpu::Launches launches;
  gpu::ProgramRecord program;
  program.file = "a.cu";
  program.kernels = {"first", "second"};
  launches.add(program);
  launches.launches.resize(count);
  return launches;
}

TEST(Moments, LaunchesStandInTheOrderInWhichTheyWereMade) {
  gpu::Launches launches = launches_of_two_kernels(4);
  launches.launches[0].moment = {true, false, true, 900, 0, 0, 950, 7};
  launches.launches[1].moment = {true, false, false, -100, 0, 0, 0, 0};
  launches.launches[2].rank = 1;
  launches.launches[2].moment = {true, false, true, 5, 0, 0, 4, 1};
  const auto trace = trace::Trace::from_bytes(gpu::file_of(launches, "./app", 1, 2), "test");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  const std::vector<TimedLaunch> found = launches_in_order(*trace, launches);
  ASSERT_EQ(found.size(), 4);
  EXPECT_EQ(found[0].number, 3);  // nothing is known of it
  EXPECT_EQ(found[0].made_ns, std::nullopt);
  EXPECT_EQ(found[1].number, 1);
  EXPECT_EQ(found[1].made_ns, -100);
  EXPECT_EQ(found[1].queued_ns(), std::nullopt);
  EXPECT_EQ(found[2].begin_ns, 950);
  EXPECT_EQ(found[2].queued_ns(), 50);
  EXPECT_EQ(found[3].queued_ns(), std::nullopt);  // of a clock that cannot be right
  EXPECT_EQ(launches_of(0, found).size(), 3);
  ASSERT_EQ(launches_of(1, found).size(), 1);
  EXPECT_EQ(launches_of(1, found).front().number, 2);
  EXPECT_EQ(launches_of(2, found).size(), 0);
}

TEST(Moments, LaunchesOfAKernelAreAddedUp) {
  gpu::Launches launches = launches_of_two_kernels(5);
  launches.launches[0].moment = {true, false, true, 10, 0, 0, 15, 7};
  launches.launches[1].kernel = 1;
  launches.launches[1].moment = {true, false, true, 20, 0, 0, 20, 30};
  launches.launches[2].kernel = 1;
  launches.launches[3].kernel = 1;
  launches.launches[3].moment = {true, false, true, 60, 0, 0, 62, 40};
  launches.launches[4].rank = 1;
  const std::vector<KernelUse> uses = kernel_uses(launches, {0, 2});
  ASSERT_EQ(uses.size(), 2);
  EXPECT_EQ(uses[0].kernel, "second");
  EXPECT_EQ(uses[0].launches, 3);
  EXPECT_EQ(uses[0].timed, 2);
  EXPECT_EQ(uses[0].ran_ns, 70);
  EXPECT_EQ(uses[0].longest_ns, 40);
  EXPECT_EQ(uses[0].queued_ns, 2);
  EXPECT_EQ(uses[1].launches, 1);
  EXPECT_EQ(kernel_uses(launches, {1}).size(), 1);
}

TEST(Moments, StreamsAreFilledColumnByColumn) {
  gpu::Launches launches = launches_of_two_kernels(4);
  launches.launches[0].moment = {true, false, true, -50, 0, 0, -50, 60};  // to 10: its end alone is on the axis
  launches.launches[1].kernel = 1;
  launches.launches[1].moment = {true, false, true, 50, 0, 0, 90, 150};  // 90 to 240
  launches.launches[2].stream = 7;
  launches.launches[2].moment = {true, false, true, 0, 0, 0, 300, 5};  // behind all columns
  launches.launches[3].rank = 1;
  launches.launches[3].moment = {true, false, true, 0, 0, 0, 0, 5};
  const auto trace = trace::Trace::from_bytes(gpu::file_of(launches, "./app", 1, 2), "test");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  const auto rows = stream_rows(launches_in_order(*trace, launches), launches, {0}, {0, 100, 200, 300});
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0].name(), "0 gpu0/0");
  EXPECT_EQ(rows[0].ns.at("first"), (std::vector<uint64_t>{10, 0, 0}));
  EXPECT_EQ(rows[0].ns.at("second"), (std::vector<uint64_t>{10, 100, 40}));
  // A window that begins within a kernel.
  const auto part = stream_rows(launches_in_order(*trace, launches), launches, {0}, {120, 130, 200});
  ASSERT_EQ(part.size(), 1);
  EXPECT_EQ(part[0].ns.at("second"), (std::vector<uint64_t>{10, 70}));
}

TEST(Moments, LaunchesReadAsTheyAreWritten) {
  gpu::Launches launches;
  gpu::ProgramRecord program;
  program.kernels = {"first"};
  launches.add(program);
  gpu::LaunchRecord launch;
  launch.grid = {4, 1, 3};
  launch.block = {128, 1, 1};
  EXPECT_EQ(launch_text(launches, launch), "first<<<4x1x3, 128>>>");
}

}  // namespace
}  // namespace cairn::analyze
