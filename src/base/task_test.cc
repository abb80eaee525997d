#include "base/task.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace cairn {
namespace {

TEST(Task, IsDoneOnceAndWhenItIsFinished) {
  std::atomic<int> done{0};
  for (int i = 0; i < 2000; ++i) {
    Task task;
    const bool begun = task.begin([&] { ++done; });
    EXPECT_EQ(begun, task.begun());
    if (!begun) {
      ++done;
      continue;
    }
    if (i % 3 == 0) std::this_thread::yield();
    task.finish();
    EXPECT_FALSE(task.begun());
    ASSERT_EQ(done, i + 1);
  }
}

TEST(Task, IsDoneByAnotherThreadMeanwhile) {
  if (usable_cores() < 2) GTEST_SKIP() << "one core";
  std::atomic<bool> done{false};
  std::thread::id by;
  Task task;
  ASSERT_TRUE(task.begin([&] {
    by = std::this_thread::get_id();
    done = true;
  }));
  while (!done) std::this_thread::yield();
  task.finish();
  EXPECT_NE(by, std::this_thread::get_id());
}

TEST(Task, NeverTouchesWhatIsGone) {
  for (int i = 0; i < 2000; ++i) {
    auto number = std::make_unique<int>(0);
    Task task;
    task.begin([&number] { ++*number; });
    if (i % 2 == 0) std::this_thread::yield();
    // Goes first, and takes it back or waits; then the number goes.
  }
}

TEST(Task, AreNotMoreThanSomeAtATime) {
  std::atomic<bool> go{false};
  std::vector<std::unique_ptr<Task>> all;
  size_t begun = 0;
  for (int i = 0; i < 1000; ++i) {
    all.push_back(std::make_unique<Task>());
    if (all.back()->begin([&] {
          while (!go) std::this_thread::yield();
        })) {
      ++begun;
    }
  }
  EXPECT_LE(begun, 64U);
  go = true;
  for (const auto &task : all) {
    if (task->begun()) task->finish();
  }
  if (usable_cores() > 1) {
    Task again;
    EXPECT_TRUE(again.begin([] {}));
  }
}

TEST(Task, FinishThrowsWhatTheWorkThrew) {
  Task task;
  if (!task.begin([] { throw std::runtime_error("so"); })) GTEST_SKIP() << "one core";
  EXPECT_THROW(task.finish(), std::runtime_error);
}

}  // namespace
}  // namespace cairn
