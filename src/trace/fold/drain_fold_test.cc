// Calls that drain one array are one event, whatever it took; read back, each of them is there.
#include "trace/fold/drain_fold.h"

#include <gtest/gtest.h>

#include <map>

#include "trace/merge/part.h"
#include "trace/merge/part_body.h"
#include "trace/read/call_reader.h"
#include "trace/read/trace.h"
#include "trace/testing/synthetic.h"

namespace cairn::trace {
namespace {

constexpr Neighbours kKinds[] = {Neighbours::in_order, Neighbours::one_by_one, Neighbours::several, Neighbours::polled};

Part merged(const std::vector<ProcessRecord> &processes, bool pairs) {
  std::vector<Part> parts;
  for (const ProcessRecord &process : processes) parts.push_back(*Part::of(process));
  while (parts.size() > 1) {
    std::vector<Part> next;
    if (pairs) {
      for (size_t i = 0; i < parts.size(); i += 2) {
        next.push_back(i + 1 < parts.size() ? *Part::merge(std::move(parts[i]), *Part::parse(parts[i + 1].serialise()))
                                            : std::move(parts[i]));
      }
    } else {
      next.push_back(*Part::merge(std::move(parts[0]), std::move(parts[1])));
      for (size_t i = 2; i < parts.size(); ++i) next.push_back(std::move(parts[i]));
    }
    parts = std::move(next);
  }
  return std::move(parts[0]);
}

Trace opened(const Part &part) { return *Trace::from_bytes(*part.to_file(RunInfo{}), "drained"); }

std::vector<Row> calls_of(const Trace &trace, uint32_t rank) {
  std::vector<Row> calls;
  CallReader reader(trace, trace.sequences(rank).at(0));
  for (auto call = reader.next(); call != grammar::kNoSymbol; call = reader.next()) calls.push_back(reader.call(call));
  return calls;
}

Bytes packed(const Row &row) {
  ByteWriter out;
  pack_row(row, out);
  return out.take();
}

TEST(Drains, AreReadBackCallByCall) {
  for (const Neighbours kind : kKinds) {
    for (uint64_t seed = 1; seed <= 12; ++seed) {
      const DrainingProgram program = neighbours_program(2 + static_cast<uint32_t>(seed % 5), seed, kind);
      const Trace trace = opened(merged(program.processes, seed % 2 == 0));
      for (uint32_t rank = 0; rank < program.calls.size(); ++rank) {
        const std::vector<Row> found = calls_of(trace, rank);
        ASSERT_EQ(found.size(), program.calls[rank].size()) << seed;
        for (size_t i = 0; i < found.size(); ++i) ASSERT_EQ(packed(found[i]), packed(program.calls[rank][i])) << i;
      }
    }
  }
}

/// Ranks differ in how many neighbours they have, and in how often they looked.
TEST(Drains, OfAllRanksAreOneClass) {
  for (const Neighbours kind : kKinds) {
    const DrainingProgram program = neighbours_program(9, 3, kind);
    std::map<size_t, int> lengths;
    for (const std::vector<Row> &calls : program.calls) ++lengths[calls.size()];
    ASSERT_GT(lengths.size(), 2U);
    const Trace trace = opened(merged(program.processes, true));
    EXPECT_EQ(trace.class_count(), 1U);
    std::vector<ProcessRecord> unaware = program.processes;
    for (ProcessRecord &process : unaware) process.sequences[0].polls.clear();
    EXPECT_GT(opened(merged(unaware, true)).class_count(), trace.class_count());
  }
}

TEST(Drains, InOrderAreOneRowAStep) {
  const Trace trace = opened(merged(neighbours_program(9, 3, Neighbours::in_order).processes, true));
  EXPECT_LE(trace.class_view(0).rows, 2U);
  EXPECT_LT(trace.class_view(0).calls->length(), 25U);
}

TEST(Drains, CountAsTheCallsThatTheyAre) {
  for (const Neighbours kind : kKinds) {
    const DrainingProgram program = neighbours_program(7, 5, kind);
    const Trace trace = opened(merged(program.processes, false));
    std::map<uint32_t, uint64_t> by_function;
    std::map<uint32_t, uint64_t> expected;
    for (uint32_t rank = 0; rank < program.calls.size(); ++rank) {
      const SequenceView sequence = trace.sequences(rank).at(0);
      std::map<uint32_t, uint64_t> own;
      uint64_t counted = 0;
      for (const Row &row : program.calls[rank]) ++own[row.function];
      std::map<uint32_t, uint64_t> found;
      for (const CountedRow &row : trace.counted_rows(sequence)) found[row.row.function] += row.count;
      EXPECT_EQ(found, own);
      for (const uint64_t count : trace.row_counts(sequence)) counted += count;
      EXPECT_EQ(counted, program.calls[rank].size());
      for (const auto &[function, count] : own) expected[function] += count;
    }
    for (uint32_t i = 0; i < trace.class_count(); ++i) {
      const std::vector<uint64_t> counts = trace.row_counts(i);
      for (uint32_t row = 0; row < counts.size(); ++row) by_function[trace.row_head(i, row).function] += counts[row];
    }
    EXPECT_EQ(by_function, expected);
  }
}

TEST(Drains, KeepTheirStatisticsInSum) {
  for (const Neighbours kind : kKinds) {
    const DrainingProgram program = neighbours_program(5, 8, kind);
    uint64_t expected = 0;
    for (const ProcessRecord &process : program.processes) {
      for (const timing::CallStats &stats : process.sequences[0].stats) expected += stats.sum;
    }
    const Trace trace = opened(merged(program.processes, true));
    uint64_t found = 0;
    for (uint32_t i = 0; i < trace.class_count(); ++i) {
      for (uint32_t row = 0; row < trace.class_view(i).rows; ++row) found += trace.row_stats(i, row)->calls.sum;
    }
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace cairn::trace
