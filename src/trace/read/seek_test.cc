// Going to a call gives what walking to it gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "trace/model/record.h"
#include "trace/read/call_reader.h"
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

}  // namespace
}  // namespace cairn::trace
