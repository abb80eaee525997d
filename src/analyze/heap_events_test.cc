#include "analyze/heap_events.h"

#include <gtest/gtest.h>

#include <vector>

#include "analyze/trace_of_events.h"
#include "spec/ids.h"

namespace cairn::analyze {
namespace {

namespace id = spec::function_id;

/// The numbers of the segments that something happens to before each call, and at the end.
std::vector<std::vector<int64_t>> told(const std::vector<trace::HeapEvent> &events,
                                       const std::vector<uint32_t> &functions) {
  const trace::Trace trace = trace_of(events);
  HeapEvents heap(trace, trace.sequences(0)[0]);
  std::vector<std::vector<int64_t>> all;
  const auto happens = [&](const trace::HeapEvent &event) { all.back().push_back(event.number); };
  for (const uint32_t function : functions) {
    all.emplace_back();
    heap.before_call(function, happens);
  }
  all.emplace_back();
  heap.at_end(happens);
  return all;
}

using Told = std::vector<std::vector<int64_t>>;

TEST(HeapEvents, StandBetweenCalls) {
  EXPECT_EQ(told({{1, 0, 10}, {0, 1, 10}, {2, 0, 0}, {0, 1, 0}}, {id::Init, id::Send, id::Send, id::Send}),
            (Told{{}, {0, 1}, {}, {0, 1}, {}}));
}

TEST(HeapEvents, StandBehindWhatChanceRepeats) {
  EXPECT_EQ(told({{0, 0, 10}, {1, 0, 0}}, {id::Irecv, id::Test, id::Waitany, id::Wait, id::Iprobe}),
            (Told{{0}, {}, {}, {0}, {}, {}}));
}

TEST(HeapEvents, WhatIsLeftStandsAtTheEnd) {
  EXPECT_EQ(told({{1, 0, 10}, {5, 0, 0}}, {id::Send, id::Test}), (Told{{}, {}, {0, 0}}));
}

TEST(HeapEvents, WhatCannotBeIsPassedOver) {
  EXPECT_EQ(told({{0, -1, 10}, {1, 1, uint64_t{1} << 60}, {1, 2, 10}}, {id::Send, id::Send, id::Send}),
            (Told{{}, {}, {2}, {}}));
}

TEST(HeapEvents, NothingIsKnownOfMostTraces) { EXPECT_EQ(told({}, {id::Send}), (Told{{}, {}})); }

}  // namespace
}  // namespace cairn::analyze
