// What the jobs of a replay tell one another by files.
#include "replay/other_jobs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/test_folder.h"

namespace cairn::replay {
namespace {

class OtherJobsTest : public testing::Test {
 protected:
  const TestFolder made_;
  const std::string folder_ = made_.path();
};

TEST_F(OtherJobsTest, EachProcessSpawnsItsOwnInTheirOrder) {
  ASSERT_TRUE(write_spawned(folder_, {{1, 0, 3, 0, 4, "/a b/run-2.cairn"},
                                      {2, 0, 3, 1, 6, "/run-3.cairn"},
                                      {3, 0, 1, 0, 7, "/run-4.cairn"},
                                      {4, 2, 3, 0, 8, "/run-5.cairn"}})
                  .has_value());
  OtherJobs third(folder_, 0, 3);
  const auto first = third.next();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->job, 1U);
  EXPECT_EQ(first->first, 4U);
  EXPECT_EQ(first->file, "/a b/run-2.cairn");
  EXPECT_EQ(third.next()->file, "/run-3.cairn");
  EXPECT_FALSE(third.next().has_value());
  EXPECT_EQ(OtherJobs(folder_, 0, 1).next()->job, 3U);
  EXPECT_EQ(OtherJobs(folder_, 2, 3).next()->job, 4U);
  EXPECT_FALSE(OtherJobs(folder_, 0, 0).next().has_value());
}

TEST_F(OtherJobsTest, PortsHaveNamesOfTheirOwn) {
  OtherJobs opener(folder_, 0, 0);
  const OtherJobs other(folder_, 1, 2);
  EXPECT_EQ(other.port("recorded", false), "recorded");
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(opener.tell_port("recorded", "now$1\n").has_value());
  });
  EXPECT_EQ(other.port("recorded", true), "now$1\n");
  late.join();
  ASSERT_TRUE(opener.tell_port("recorded", "again").has_value());
  EXPECT_EQ(other.port("recorded", false), "again");
  EXPECT_EQ(other.port("another", false), "another");
  EXPECT_FALSE(OtherJobs(folder_ + "/none", 0, 0).tell_port("recorded", "now").has_value());
}

}  // namespace
}  // namespace cairn::replay
