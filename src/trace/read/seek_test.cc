// Going to a call gives what walking to it gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "trace/model/record.h"
#include "trace/read/call_reader.h"
#include "trace/read/events.h"
#include "trace/testing/synthetic.h"

namespace cairn::trace {
namespace {

Trace traced(const std::vector<ProcessRecord> &processes, const char *timing) {
  Part part = *Part::of(processes[0]);
  for (size_t i = 1; i < processes.size(); ++i) part = *Part::merge(std::move(part), *Part::of(processes[i]));
  return *Trace::from_bytes(*part.to_file({"command", "mpi", "cairn", timing, "complete", 1, 2}), "test");
}

struct Walked {
  std::vector<Row> calls;
  std::vector<uint64_t> row_places;
  std::vector<uint32_t> class_rows;
};

Walked walked(const Trace &trace, const SequenceView &sequence) {
  Walked all;
  CallReader reader(trace, sequence);
  for (grammar::Symbol call = reader.next(); call != grammar::kNoSymbol; call = reader.next()) {
    all.calls.push_back(reader.call(call));
    all.row_places.push_back(reader.row_place());
    all.class_rows.push_back(reader.class_row(call));
  }
  return all;
}

/// The reader's next calls are those from `from` on, as far as `count` of them.
void expect_calls(CallReader &reader, const Walked &all, uint64_t from, uint64_t count) {
  for (uint64_t i = from; i < from + count; ++i) {
    const grammar::Symbol call = reader.next();
    if (i >= all.calls.size()) {
      ASSERT_EQ(call, grammar::kNoSymbol) << "from " << from;
      return;
    }
    ASSERT_NE(call, grammar::kNoSymbol) << "call " << i << " of " << all.calls.size() << ", from " << from;
    ASSERT_EQ(reader.call(call), all.calls[i]) << "call " << i << " of " << all.calls.size() << ", from " << from;
    ASSERT_EQ(reader.row_place(), all.row_places[i]) << "call " << i << ", from " << from;
    ASSERT_EQ(reader.class_row(call), all.class_rows[i]);
  }
}

/// Of every sequence, all places of short ones, some of long ones. Gives how many calls there were.
uint64_t expect_seeks(const std::vector<ProcessRecord> &processes, const char *timing, uint64_t seed) {
  const Trace trace = traced(processes, timing);
  std::mt19937_64 random(seed);
  uint64_t calls = 0;
  for (const uint32_t rank : trace.ranks()) {
    for (const SequenceView &sequence : trace.sequences(rank)) {
      const Walked all = walked(trace, sequence);
      const uint64_t length = all.calls.size();
      calls += length;
      CallReader reader(trace, sequence);
      EXPECT_EQ(reader.count(), length);
      constexpr uint64_t kShort = 300;
      const uint64_t tries = std::min<uint64_t>(length + 2, kShort);
      for (uint64_t i = 0; i < tries; ++i) {
        const uint64_t place = length <= kShort ? tries - 1 - i : random() % (length + 1);
        reader.seek(place);
        expect_calls(reader, all, place, i % 5 == 0 ? 40 : 2);
        if (testing::Test::HasFatalFailure()) return calls;
      }
      CallReader fresh(trace, sequence);
      fresh.seek(length / 2);
      expect_calls(fresh, all, length / 2, length);
      for (uint64_t i = 0; i < std::min<uint64_t>(length, kShort); ++i) {
        const uint64_t call = random() % length;
        const auto first = std::lower_bound(all.row_places.begin(), all.row_places.end(), all.row_places[call]);
        EXPECT_EQ(reader.calls_before_row(all.row_places[call]), static_cast<uint64_t>(first - all.row_places.begin()));
      }
      if (testing::Test::HasFailure()) return calls;
    }
  }
  return calls;
}

TEST(Seek, GivesWhatWalkingGives) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    expect_seeks(random_program(7, seed), "lossless", seed);
    expect_seeks({stencil_rank(0, 3, 3, 200), stencil_rank(4, 3, 3, 200)}, "stats", seed);
    expect_seeks(skewed_program(3, seed), "stats", seed);
    if (HasFailure()) return;
  }
}

TEST(Seek, FindsTheValuesOfStreams) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_GT(expect_seeks(varying_program(6, seed), "stats", seed), 0U);
    expect_seeks(partners_program(8, seed), "stats", seed);
    expect_seeks(exchanging_program(4, seed), "stats", seed);
    if (HasFailure()) return;
  }
}

TEST(Seek, CountsPollsThatFoundNothing) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    expect_seeks(polling_program(5 + seed % 2, seed), "stats", seed);
    if (HasFailure()) return;
  }
}

TEST(Seek, RemembersArraysOfRequests) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    expect_seeks(draining_program(3, seed, seed % 2 == 0).processes, "stats", seed);
    for (const Neighbours kind :
         {Neighbours::in_order, Neighbours::one_by_one, Neighbours::several, Neighbours::polled}) {
      expect_seeks(neighbours_program(6, seed, kind).processes, "stats", seed);
    }
    if (HasFailure()) return;
  }
}

/// All that is told of an event but the number of its call.
auto all_of(const Event &event) {
  return std::tuple(event.rank, event.thread, event.segment, event.index, event.class_index, event.row, event.row_place,
                    event.timed, event.begin_ns, event.end_ns, event.duration_ns, event.gap_ns);
}
struct Told {
  decltype(all_of(std::declval<Event>())) event;
  Row values;
};

TEST(Seek, GoesToEventsOfSeveralThreads) {
  size_t threads = 0;
  size_t timed = 0;
  std::mt19937_64 random(3);
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const Trace trace = traced(seed % 3 == 2 ? polling_program(6, seed) : random_program(5, seed), "lossless");
    for (const uint32_t rank : trace.ranks()) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", rank " << rank);
      std::vector<Told> all;
      Events events(trace, rank);
      uint64_t longest = 0;
      while (const Event *event = events.next()) {
        all.push_back({all_of(*event), *event->values});
        threads += event->thread;
        timed += event->timed ? 1 : 0;
        longest = std::max(longest, event->end_ns);
      }
      ASSERT_EQ(events.count(), all.size());
      for (int i = 0; i < 60; ++i) {
        const uint64_t index = random() % (all.size() + 2);
        events.seek(index);
        for (uint64_t next = index; next < index + 7; ++next) {
          const Event *event = events.next();
          if (next >= all.size()) {
            ASSERT_EQ(event, nullptr);
            break;
          }
          ASSERT_NE(event, nullptr);
          ASSERT_EQ(all_of(*event), all[next].event) << "at " << next << " from " << index;
          ASSERT_EQ(*event->values, all[next].values);
        }
        ASSERT_TRUE(events.end().has_value());
        if (longest == 0) continue;
        const uint64_t ns = random() % longest;
        const uint64_t near = events.index_near(ns);
        for (uint64_t before = 0; before < near; ++before) ASSERT_LT(std::get<9>(all[before].event), ns);
      }
    }
  }
  EXPECT_GT(threads, 0U);
  EXPECT_GT(timed, 0U);
}

TEST(Seek, SaysWhatWasPassed) {
  size_t between = 0;  // rows of other threads
  size_t exact = 0;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const Trace trace = traced(random_program(5, seed), "lossless");
    for (const uint32_t rank : trace.ranks()) {
      Events walked(trace, rank);
      Events sought(trace, rank);
      for (uint64_t index = 0; const Event *event = walked.next(); ++index) {
        if (index % 3 != 0) continue;
        sought.seek(index);
        ASSERT_NE(sought.next(), nullptr);
        const auto all = walked.passed();
        const auto same = sought.passed();
        ASSERT_EQ(all.size(), same.size());
        for (size_t i = 0; i < all.size(); ++i) {
          ASSERT_EQ(all[i].first.class_index, same[i].first.class_index);
          ASSERT_EQ(all[i].second, same[i].second);
          between += all[i].first.thread != event->thread && all[i].second != 0 ? 1 : 0;
        }
        const auto begin = sought.index_of_row(event->thread, event->segment, event->row_place);
        ASSERT_TRUE(begin.has_value());
        ASSERT_LE(*begin, index);
        exact += *begin == index ? 1 : 0;
      }
    }
  }
  EXPECT_GT(between, 0U);
  EXPECT_GT(exact, 0U);
}

}  // namespace
}  // namespace cairn::trace
