#include "mpi/store/heap_log.h"

#include <gtest/gtest.h>

#include <vector>

#include "grammar/grammar.h"

namespace cairn::recorder {
namespace {

struct HeapLogTest : testing::Test {
  /// The events, as they are read.
  [[nodiscard]] std::vector<trace::HeapEvent> told() const {
    std::vector<trace::HeapEvent> all;
    for (const grammar::Symbol event : grammar::Grammar::from(*log.order)->expand()) {
      all.push_back(heap_event_of(log.events[event]));
    }
    return all;
  }
  std::vector<uint64_t> memory = std::vector<uint64_t>(1 << 18);
  Arena arena{memory.data(), memory.size() * sizeof(uint64_t)};
  HeapLog log = {};
};

TEST_F(HeapLogTest, CountsCallsFromEventToEvent) {
  log.calls = 3;
  EXPECT_TRUE(log.add(arena, 0, 1000));
  EXPECT_TRUE(log.add(arena, 1, 24));
  log.calls = 7;
  EXPECT_TRUE(log.add(arena, 0, 0));
  EXPECT_EQ(told(), (std::vector<trace::HeapEvent>{{3, 0, 1000}, {0, 1, 24}, {4, 0, 0}}));
}

TEST_F(HeapLogTest, TurnsOfALoopHaveTheSameEvents) {
  for (int turn = 0; turn < 1000; ++turn) {
    ASSERT_TRUE(log.add(arena, 0, 1000));
    log.calls += 2;
    ASSERT_TRUE(log.add(arena, 0, 0));
  }
  EXPECT_EQ(log.events.size(), 2U);
  EXPECT_EQ(log.order->length(), 2000U);
  EXPECT_LT(log.order->terms(), 10U);
}

TEST_F(HeapLogTest, ManySizesAreRounded) {
  constexpr uint64_t kSizes = 20000;
  for (uint64_t i = 0; i < kSizes; ++i) ASSERT_TRUE(log.add(arena, 0, 1000 + i));
  EXPECT_LT(log.events.size(), HeapLog::kExact + 100);
  const std::vector<trace::HeapEvent> all = told();
  ASSERT_EQ(all.size(), kSizes);
  for (uint64_t i = 0; i < kSizes; ++i) {
    EXPECT_GE(all[i].bytes, 1000 + i);
    EXPECT_LE(all[i].bytes, (1000 + i) * 17 / 16);
    if (i < HeapLog::kExact) {
      EXPECT_EQ(all[i].bytes, 1000 + i);
    }
  }
}

TEST_F(HeapLogTest, ThreadsStandAmongAllCalls) {
  log.calls = 2;  // of three
  EXPECT_TRUE(log.add_thread(arena, 5, false, 3));
  log.calls = 3;
  EXPECT_TRUE(log.add(arena, 0, 1000));
  log.calls = 4;  // of seven
  EXPECT_TRUE(log.add_thread(arena, 5, true, 7));
  const std::vector<trace::HeapEvent> all = told();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1], (trace::HeapEvent{1, 0, 1000}));
  for (const size_t i : {0, 2}) {
    ASSERT_TRUE(trace::ThreadEvent::is(all[i]));
    const trace::ThreadEvent event = trace::ThreadEvent::of(all[i]);
    EXPECT_EQ(event.calls, i == 0 ? 2U : 1U);
    EXPECT_EQ(event.passed, i == 0 ? 1U : 2U);
    EXPECT_EQ(event.thread, 5U);
    EXPECT_EQ(event.ends, i == 2);
  }
}

TEST_F(HeapLogTest, DevicesStandAmongThem) {
  log.calls = 2;
  EXPECT_TRUE(log.add_device(arena, 3, 4096));
  EXPECT_TRUE(log.add(arena, 0, 1000));
  const std::vector<trace::HeapEvent> all = told();
  ASSERT_EQ(all.size(), 2U);
  ASSERT_TRUE(trace::DeviceEvent::is(all[0]));
  EXPECT_FALSE(trace::ThreadEvent::is(all[0]));
  const trace::DeviceEvent event = trace::DeviceEvent::of(all[0]);
  EXPECT_EQ(event.calls, 2U);
  EXPECT_EQ(event.number, 3);
  EXPECT_EQ(event.bytes, 4096U);
  EXPECT_FALSE(trace::DeviceEvent::is(all[1]));
}

TEST_F(HeapLogTest, ThreadsOfEachTurnHaveTheSameEvents) {
  for (uint64_t turn = 0; turn < 1000; ++turn) {
    for (uint32_t thread = 1; thread < 4; ++thread) ASSERT_TRUE(log.add_thread(arena, thread, false, turn));
    for (uint32_t thread = 1; thread < 4; ++thread) ASSERT_TRUE(log.add_thread(arena, thread, true, turn));
    log.calls = turn + 1;
  }
  EXPECT_EQ(log.events.size(), 7U);  // the first turn's first one has no call before it
  EXPECT_LT(log.order->terms(), 20U);
}

TEST_F(HeapLogTest, WithoutMemoryNothingIsKept) {
  while (arena.allocate(64) != nullptr) {
  }
  EXPECT_FALSE(log.add(arena, 0, 1000));
  EXPECT_FALSE(log.add_device(arena, 0, 1000));
  EXPECT_FALSE(log.add_thread(arena, 1, false, 0));
}

}  // namespace
}  // namespace cairn::recorder
