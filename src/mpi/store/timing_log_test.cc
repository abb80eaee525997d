#include "mpi/store/timing_log.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

namespace cairn::recorder {
namespace {

constexpr size_t kMemory = size_t{4} << 20;
constexpr uint64_t kCalls = 200'000;

uint64_t gap_of(uint64_t call) { return call * 2'654'435'761U % 1'000'003; }

/// An empty folder, and an arena.
class TimingLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/cairn-timing-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    log_ = arena_.create<TimingLog>();
    ASSERT_NE(log_, nullptr);
  }
  void TearDown() override {
    log_->reset();
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
    std::filesystem::remove_all(folder_);
  }

  void expect_calls(uint64_t wanted) {
    std::vector<timing::CallTime> times;
    size_t bad = 0;
    ASSERT_TRUE(timing::read_lossless(log_->read(), kCalls, &times, &bad)) << bad;
    ASSERT_EQ(times.size(), wanted);
    for (uint64_t i = 0; i < times.size(); ++i) ASSERT_EQ(times[i].gap, gap_of(i)) << i;
  }

  std::vector<uint8_t> memory_ = std::vector<uint8_t>(kMemory);
  Arena arena_{memory_.data(), kMemory, Arena::Fresh::as_it_is};
  std::string folder_;
  TimingLog *log_ = nullptr;
};

TEST_F(TimingLogTest, GoesOnInMemoryWhereTheDiskHasNoRoom) {
  ASSERT_TRUE(log_->open(arena_, folder_.c_str(), "host", 1, 0));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little = {100'000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);
  for (uint64_t i = 0; i < kCalls; ++i) log_->add(gap_of(i), i % 7);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_FALSE(log_->stopped());
  EXPECT_FALSE(std::filesystem::is_empty(folder_));
  expect_calls(kCalls);
  // What was in memory dies with the process.
  EXPECT_TRUE(log_->stopped(TimingLog::Owner::dead));
  std::vector<timing::CallTime> times;
  size_t bad = 0;
  ASSERT_TRUE(timing::read_lossless(log_->read(TimingLog::Owner::dead), kCalls, &times, &bad)) << bad;
  EXPECT_GT(times.size(), 0U);
  EXPECT_LT(times.size(), kCalls);
}

TEST_F(TimingLogTest, KeepsWhatItHasWhenMemoryEndsAsWell) {
  ASSERT_TRUE(log_->open(arena_, nullptr, "host", 1, 0));
  for (uint64_t i = 0; i < 20 * kCalls; ++i) log_->add(gap_of(i % kCalls), i % 7);
  EXPECT_TRUE(log_->stopped());
  std::vector<timing::CallTime> times;
  size_t bad = 0;
  ASSERT_TRUE(timing::read_lossless(log_->read(), 20 * kCalls, &times, &bad)) << bad;
  EXPECT_GT(times.size(), kCalls);
  EXPECT_LT(times.size(), 20 * kCalls);
}

}  // namespace
}  // namespace cairn::recorder
