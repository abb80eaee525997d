#include "analyze/heap_events.h"

#include <gtest/gtest.h>

#include <map>
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

TEST(HeapEvents, DevicesStandBetweenThem) {
  const auto device = [](uint64_t calls, int64_t number, uint64_t bytes) {
    return trace::DeviceEvent{calls, number, bytes}.packed();
  };
  const trace::HeapEvent first = device(1, 0, 4096);
  EXPECT_TRUE(trace::DeviceEvent::is(first));
  EXPECT_FALSE(trace::ThreadEvent::is(first));
  const std::vector<trace::HeapEvent> events = {
      first, {0, 0, 10}, device(1, 7, 100), device(0, 0, 512), device(0, 1, 0)};
  EXPECT_EQ(told(events, {id::Init, id::Send, id::Send}),
            (Told{{}, {first.number, 0}, {device(0, 7, 1).number, first.number}, {}}));
  EXPECT_EQ(device_sizes(trace_of(events), 0), (std::map<int64_t, uint64_t>{{0, 4096}, {7, 100}}));
  EXPECT_EQ(device_sizes(trace_of({{0, 0, 10}}), 0).size(), 0U);
}

TEST(HeapEvents, NothingIsKnownOfMostTraces) { EXPECT_EQ(told({}, {id::Send}), (Told{{}, {}})); }

}  // namespace
}  // namespace cairn::analyze
