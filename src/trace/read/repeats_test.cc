// What is said to repeat does.
#include "trace/read/repeats.h"

#include <gtest/gtest.h>

#include <string>

#include "trace/read/call_reader.h"
#include "trace/testing/synthetic.h"
#include "trace/testing/synthetic_parts.h"

namespace cairn::trace {
namespace {

constexpr uint64_t kFewestTurns = 5;
constexpr uint64_t kFewestRows = 10;

Trace traced(const std::vector<ProcessRecord> &processes) {
  Part part = *Part::of(processes[0]);
  for (size_t i = 1; i < processes.size(); ++i) part = *Part::merge(std::move(part), *Part::of(processes[i]));
  return *Trace::from_bytes(*part.to_file({"command", "mpi", "cairn", "stats", "complete", 1, 2}), "test");
}

std::vector<Row> calls_of(const Trace &trace, const SequenceView &sequence) {
  std::vector<Row> calls;
  CallReader reader(trace, sequence);
  for (grammar::Symbol call = reader.next(); call != grammar::kNoSymbol; call = reader.next()) {
    calls.push_back(reader.call(call));
  }
  return calls;
}

/// Calls from `begin` on and before `end`, of equal ones in succession one: made-up polls find nothing several times.
std::vector<Row> without_polls(const std::vector<Row> &calls, uint64_t begin, uint64_t end) {
  std::vector<Row> some;
  for (uint64_t i = begin; i < end; ++i) {
    if (some.empty() || calls[i] != some.back()) some.push_back(calls[i]);
  }
  return some;
}

/// How many calls lie in repeats, all of which were looked at.
uint64_t expect_repeats(const std::vector<ProcessRecord> &processes, bool any = true) {
  const Trace trace = traced(processes);
  uint64_t within = 0;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    Repeats repeats(trace, index, kFewestTurns, kFewestRows, [&](const auto & /*row*/) { return any; });
    for (const uint32_t rank : trace.class_view(index).ranks) {
      for (const SequenceView &sequence : trace.sequences(rank)) {
        if (sequence.class_index != index) continue;
        const std::vector<Row> calls = calls_of(trace, sequence);
        CallReader reader(trace, sequence);
        uint64_t end = 0;
        for (const Repeat &each : repeats.of(rank)) {
          EXPECT_GE(each.row, end);
          end = each.row + each.rows * each.turns;
          EXPECT_GT(each.turns, kFewestTurns);
          EXPECT_GE(each.rows * (each.turns - kFewestTurns), kFewestRows);
          const auto turn = [&](uint64_t number) {
            const uint64_t row = each.row + number * each.rows;
            return without_polls(calls, reader.calls_before_row(row), reader.calls_before_row(row + each.rows));
          };
          const std::vector<Row> first = turn(0);
          EXPECT_LE(first.size(), each.rows);
          for (uint64_t number = 1; number < each.turns; ++number) {
            EXPECT_EQ(turn(number), first) << "rank " << rank << ", row " << each.row << ", turn " << number;
            if (testing::Test::HasFailure()) return 0;
          }
          within += first.size() * each.turns;
        }
      }
    }
  }
  return within;
}

/// A loop of two calls, of which the first one has a partner, as the letters say.
ProcessRecord loop_over(const std::string &partners) {
  synthetic::Recording recording;
  for (const char partner : partners) {
    recording.call({1, 1, 0, {synthetic::atoms({partner})}});
    recording.call({2, 2, 0, {synthetic::atoms({0})}});
  }
  return synthetic::single_thread(0, 1, recording, 1);
}

std::string times(int count, const std::string &what) {
  std::string text;
  for (int i = 0; i < count; ++i) text += what;
  return text;
}

TEST(Repeats, AreEqualTurns) {
  EXPECT_EQ(expect_repeats({loop_over(std::string(50, 'a'))}), 100U);
  EXPECT_EQ(expect_repeats({loop_over(std::string(5, 'a'))}), 0U);
  EXPECT_EQ(expect_repeats({loop_over(std::string(50, 'a'))}, false), 0U);
}

TEST(Repeats, MayTakeSeveralTurnsOfALoop) {
  EXPECT_GE(expect_repeats({loop_over(times(40, "abc"))}), 230U);
  // Not where it differs each time.
  EXPECT_EQ(expect_repeats({loop_over("abcdefghijklmnopqrstuvwxyz")}), 0U);
}

TEST(Repeats, OfMadeUpProgramsRepeat) {
  uint64_t within = 0;
  within += expect_repeats({stencil_rank(0, 3, 3, 200), stencil_rank(4, 3, 3, 200)});
  for (uint64_t seed = 0; seed < 20 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    within += expect_repeats(random_program(7, seed));
    within += expect_repeats(varying_program(6, seed));
    within += expect_repeats(partners_program(8, seed));
    within += expect_repeats(skewed_program(3, seed));
    within += expect_repeats(exchanging_program(4, seed));
    within += expect_repeats(polling_program(5, seed));
    within += expect_repeats(neighbours_program(6, seed, Neighbours::one_by_one).processes);
  }
  EXPECT_GT(within, 1000U);
}

}  // namespace
}  // namespace cairn::trace
