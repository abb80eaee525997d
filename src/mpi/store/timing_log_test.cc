#include "mpi/store/timing_log.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "spec/spec.h"
#include "timing/group_numbers.h"
#include "trace/model/record.h"

namespace cairn::recorder {
namespace {

constexpr size_t kMemory = size_t{4} << 20;
constexpr uint64_t kCalls = 100'000;
constexpr uint32_t kRows = 5;

uint64_t gap_of(uint64_t call) { return call == 0 ? 0 : call * 2'654'435'761U % 1'000'003; }
uint64_t duration_of(uint64_t call) { return call % 7 * 100 + call * 40'503 % 97; }

/// An empty folder, an arena, and calls of a few rows; ticks are nanoseconds.
class TimingLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/cairn-timing-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    log_ = arena_.create<TimingLog>();
    ASSERT_NE(log_, nullptr);
    for (uint32_t row = 0; row < kRows; ++row) {
      ByteWriter out;
      trace::pack_row(
          {(row % 2 == 0 ? spec::find_function("MPI_Send") : spec::find_function("MPI_Waitall"))->id, row / 2, 0, {}},
          out);
      out.fixed64(0);  // as long as rows are
      out.fixed64(0);
      out.fixed64(0);
      out.fixed64(0);
      rows_.push_back(out.take());
    }
  }
  void TearDown() override {
    log_->reset();
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
    std::filesystem::remove_all(folder_);
  }

  void open(const char *setting, const char *folder, bool (*wake)() = nullptr) {
    setting_ = *timing::parse_setting(setting);
    ASSERT_TRUE(log_->open(arena_, {folder, "host", 1, 0, &clock_, &setting_, wake}));
  }
  void add(TimingLog *log, uint64_t first, uint64_t end) {
    for (uint64_t call = first; call < end; ++call) {
      const uint64_t begin = ticks_ + gap_of(call);
      if (call == first_call_) log->begin_at(begin);
      ticks_ = begin + duration_of(call);
      log->add(rows_[call % kRows].data(), begin, ticks_);
    }
  }
  void add(uint64_t first, uint64_t end) { add(log_, first, end); }

  /// The times in a stream, whose first call is that one.
  [[nodiscard]] std::vector<timing::CallTime> times_in(const Bytes &stream, uint64_t first = 0) const {
    std::vector<timing::BlockPlace> blocks;
    size_t bad = 0;
    EXPECT_TRUE(timing::find_blocks(stream, UINT64_MAX, &blocks, &bad)) << bad;
    std::vector<timing::PlacedTime> placed;
    for (const timing::BlockPlace &block : blocks) {
      timing::GroupNumbers numbers;
      numbers.begin_block();
      for (uint64_t i = 0; i < block.calls; ++i)
        numbers.add(static_cast<uint32_t>((first + block.first_call + i) % kRows));
      EXPECT_EQ(timing::decode_block(block, numbers.calls().groups, &placed), nullptr);
    }
    std::vector<timing::CallTime> times;
    for (const timing::PlacedTime &each : placed) times.push_back(each.time);
    return times;
  }
  static void expect_calls(const std::vector<timing::CallTime> &times, uint64_t first, uint64_t end) {
    ASSERT_EQ(times.size(), end - first);
    for (uint64_t i = 0; i < times.size(); ++i) {
      ASSERT_EQ(times[i].gap, i == 0 ? 0 : gap_of(first + i)) << i;
      ASSERT_EQ(times[i].duration, duration_of(first + i)) << i;
    }
  }
  void expect_calls(uint64_t wanted) { expect_calls(times_in(log_->read(setting_)), 0, wanted); }

  std::vector<uint8_t> memory_ = std::vector<uint8_t>(kMemory);
  Arena arena_{memory_.data(), kMemory, Arena::Fresh::as_it_is};
  std::string folder_;
  CalibratedClock clock_;
  timing::Setting setting_;
  std::vector<Bytes> rows_;
  uint64_t ticks_ = 1000;
  uint64_t first_call_ = 0;  ///< of the log
  TimingLog *log_ = nullptr;
};

TEST_F(TimingLogTest, GivesEachCallOnceAtAnyMoment) {
  open("lossless", folder_.c_str());
  uint64_t done = 0;
  for (const uint64_t more : {1U, 1U, 500U, 2000U, 700U, 1U, 4000U, 12'345U}) {
    add(done, done + more);
    done += more;
    expect_calls(done);
    expect_calls(times_in(log_->read(setting_, TimingLog::Owner::dead)), 0, done);
  }
  expect_calls(times_in(log_->read(setting_, TimingLog::Owner::dead, false)), 0, done - 1);
}

TEST_F(TimingLogTest, AnotherThreadMakesTheBlocks) {
  open("lossless", folder_.c_str(), [] { return true; });
  std::atomic<bool> stop = false;
  std::thread worker([&] {
    while (!stop) log_->work();
  });
  add(0, kCalls);
  expect_calls(kCalls);
  stop = true;
  worker.join();
  expect_calls(kCalls);
}

TEST_F(TimingLogTest, NobodyComesInTime) {
  open("lossless", folder_.c_str(), [] { return true; });
  add(0, kCalls);
  expect_calls(kCalls);
}

TEST_F(TimingLogTest, GoesOnInMemoryWhereTheDiskHasNoRoom) {
  open("lossless", folder_.c_str());
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little = {100'000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);
  add(0, kCalls);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_FALSE(log_->stopped());
  EXPECT_FALSE(std::filesystem::is_empty(folder_));
  expect_calls(kCalls);
  // What was in memory dies with the process.
  EXPECT_TRUE(log_->stopped(TimingLog::Owner::dead));
  const auto left = times_in(log_->read(setting_, TimingLog::Owner::dead));
  EXPECT_GT(left.size(), 0U);
  EXPECT_LT(left.size(), kCalls);
}

TEST_F(TimingLogTest, KeepsWhatItHasWhenMemoryEndsAsWell) {
  constexpr size_t kLittle = size_t{1} << 20;
  Arena little(memory_.data() + kMemory - kLittle, kLittle, Arena::Fresh::as_it_is);
  auto *log = little.create<TimingLog>();
  setting_ = *timing::parse_setting("lossless");
  ASSERT_TRUE(log->open(little, {nullptr, "host", 1, 0, &clock_, &setting_, nullptr}));
  constexpr uint64_t kMany = 4 * kCalls;
  add(log, 0, kMany);
  EXPECT_TRUE(log->stopped());
  const auto left = times_in(log->read(setting_));
  EXPECT_GT(left.size(), kCalls);
  EXPECT_LT(left.size(), kMany);
  expect_calls(left, 0, left.size());
  log->reset();
}

TEST_F(TimingLogTest, ANextOneGoesOn) {
  open("lossless", folder_.c_str());
  add(0, 5000);
  TimingLog *next = arena_.create<TimingLog>();
  ASSERT_TRUE(log_->begin_next(arena_, 1, next));
  log_->let_go();
  first_call_ = 5000;
  add(next, 5000, 12'000);
  expect_calls(5000);
  expect_calls(times_in(next->read(setting_), 5000), 5000, 12'000);
  next->release(arena_);
}

TEST_F(TimingLogTest, WhatACallIsNestedInBeganBefore) {
  open("lossless", folder_.c_str());
  ByteWriter nested;
  trace::pack_row({spec::find_function("MPI_Comm_size")->id, 1, 1, {}}, nested);
  nested.fixed64(0);
  nested.fixed64(0);
  const Bytes inner = nested.take();
  log_->begin_at(1000);
  std::vector<timing::CallTime> expected;
  for (uint64_t call = 0; call < kCalls; ++call) {  // 70 ns apart, and 100 within: 10, 50, 40
    const uint64_t begin = 1000 + call * 170;
    log_->add(inner.data(), begin + 10, begin + 60);
    log_->add(rows_[0].data(), begin, begin + 100);
    expected.push_back({call == 0 ? 10U : 80U, 50});
    expected.push_back({call == 0 ? 0U : 70U, 100});
  }
  std::vector<timing::BlockPlace> blocks;
  size_t bad = 0;
  const Bytes stream = log_->read(setting_);
  ASSERT_TRUE(timing::find_blocks(stream, UINT64_MAX, &blocks, &bad));
  std::vector<timing::PlacedTime> placed;
  for (const timing::BlockPlace &block : blocks) {
    timing::GroupNumbers numbers;
    numbers.begin_block();
    for (uint64_t i = 0; i < block.calls; ++i) {
      const auto outer = static_cast<uint32_t>((block.first_call + i) % 2);
      numbers.add(outer, 0, 1 - outer);
    }
    ASSERT_EQ(timing::decode_block(block, numbers.calls().groups, &placed, numbers.calls().depths), nullptr);
  }
  ASSERT_EQ(placed.size(), 2 * kCalls);
  for (uint64_t i = 0; i < placed.size(); ++i) {
    ASSERT_EQ(placed[i].time, expected[i]) << i;
    ASSERT_EQ(placed[i].begin_ns, i / 2 * 170 + (i % 2 == 0 ? 10 : 0)) << i;
  }
}

TEST_F(TimingLogTest, BoundsAreThoseOfTheFunction) {
  open("context:rel=10%,MPI_Wait*=exact", nullptr);
  add(0, 20'000);
  timing::TimesCost cost;
  const auto times = times_in(log_->read(setting_, TimingLog::Owner::living, true, &cost));
  ASSERT_EQ(times.size(), 20'000U);
  uint64_t different = 0;
  for (uint64_t i = 1; i < times.size(); ++i) {
    const auto off = static_cast<double>(times[i].gap) - static_cast<double>(gap_of(i));
    ASSERT_LE(off * off, 0.01 * static_cast<double>(gap_of(i)) * static_cast<double>(gap_of(i)));
    if (i % kRows % 2 == 1) {
      ASSERT_EQ(times[i], (timing::CallTime{gap_of(i), duration_of(i)})) << i;
    }
    different += times[i].gap != gap_of(i) ? 1 : 0;
  }
  EXPECT_GT(different, 8000U);
  EXPECT_EQ(cost.size.calls, 20'000U);
  EXPECT_GT(cost.coding_ns, 0U);
}

}  // namespace
}  // namespace cairn::recorder
