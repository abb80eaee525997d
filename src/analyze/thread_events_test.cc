#include "analyze/thread_events.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyze/trace_of_events.h"

namespace cairn::analyze {
namespace {

using trace::HeapEvent;
using trace::ThreadEvent;

/// What happens before each of so many calls, and at the end: "3 begins", or "3 ends".
std::vector<std::string> told(const std::vector<HeapEvent> &events, size_t calls) {
  const trace::Trace trace = trace_of(events);
  ThreadEvents threads(trace, trace.sequences(0)[0]);
  std::vector<std::string> all;
  const auto happens = [&](const ThreadEvent &event) {
    all.back() += std::to_string(event.thread) + (event.ends ? " ends " : " begins ");
  };
  for (size_t i = 0; i < calls; ++i) {
    all.emplace_back();
    threads.before_call(happens);
  }
  all.emplace_back();
  threads.at_end(happens);
  return all;
}

using Told = std::vector<std::string>;

HeapEvent begins(uint32_t thread, uint64_t calls, uint64_t passed) {
  return ThreadEvent{calls, passed, thread, false}.packed();
}
HeapEvent ends(uint32_t thread, uint64_t calls, uint64_t passed) {
  return ThreadEvent{calls, passed, thread, true}.packed();
}

TEST(ThreadEvents, StandBetweenCalls) {
  EXPECT_EQ(told({begins(1, 1, 0), begins(2, 0, 0), ends(1, 1, 0), ends(2, 0, 0)}, 3),
            (Told{"", "1 begins 2 begins ", "1 ends 2 ends ", ""}));
}

TEST(ThreadEvents, CountAllCalls) {
  // A call, two that chance repeats, the begin, a call and one that chance repeats, the end.
  EXPECT_EQ(told({begins(1, 1, 2), ends(1, 1, 1)}, 6), (Told{"", "", "", "1 begins ", "", "1 ends ", ""}));
}

TEST(ThreadEvents, CountCallsBetweenEventsOfTheHeap) {
  EXPECT_EQ(told({{1, 0, 4096}, {1, 0, 0}, begins(7, 1, 0), {2, 0, 64}, ends(7, 0, 0)}, 5),
            (Told{"", "", "", "7 begins ", "", "7 ends "}));
}

TEST(ThreadEvents, WhatIsLeftStandsAtTheEnd) {
  EXPECT_EQ(told({begins(0, 0, 0), ends(0, 9, 0)}, 1), (Told{"0 begins ", "0 ends "}));
}

TEST(ThreadEvents, NumbersThatNoThreadHasArePassedOver) {
  EXPECT_EQ(told({{0, -1 - (int64_t{1} << 32), 0}, begins(UINT32_MAX, 0, 0)}, 1),
            (Told{std::to_string(UINT32_MAX) + " begins ", ""}));
}

TEST(ThreadEvents, NothingIsKnownOfMostTraces) { EXPECT_EQ(told({}, 1), (Told{"", ""})); }

}  // namespace
}  // namespace cairn::analyze
