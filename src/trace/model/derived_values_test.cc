// Displacements that are running sums: put back for every reader, on ranks that agree and on ranks that do not.
#include "trace/model/derived_values.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "trace/merge/part.h"
#include "trace/read/call_reader.h"
#include "trace/read/edit.h"
#include "trace/read/trace.h"
#include "trace/testing/synthetic.h"

namespace cairn::trace {
namespace {

std::vector<Atom> sums_of(const std::vector<Atom> &counts) {
  Row row;
  row.fields = {{false, counts, {}}, {false, {kPrefixSums}, {}}};
  expand_prefix_sums(&row);
  return row.fields[1].atoms;
}

TEST(PrefixSums, OfAnyLength) {
  EXPECT_EQ(sums_of({}), std::vector<Atom>{});
  EXPECT_EQ(sums_of({7}), std::vector<Atom>{0});
  EXPECT_EQ(sums_of({7, 0, 2}), (std::vector<Atom>{0, 7, 7}));
  EXPECT_EQ(sums_of({0, 0}), (std::vector<Atom>{0, 0}));
}

TEST(PrefixSums, OfWhatNoRecorderWroteAreLeftAlone) {
  const std::vector<Atom> alone = {kPrefixSums};
  EXPECT_EQ(sums_of({1, -1}), alone);
  EXPECT_EQ(sums_of({kNull}), alone);
  EXPECT_EQ(sums_of({INT64_MAX, 1, 1}), alone);
  Row first;
  first.fields = {{false, alone, {}}};
  expand_prefix_sums(&first);
  EXPECT_EQ(first.fields[0].atoms, alone);
}

TEST(PrefixSums, AreThereHoweverTheRowsAreRead) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const std::vector<ProcessRecord> processes = exchanging_program(5, seed);
    Part part;
    for (const ProcessRecord &process : processes) part = *Part::merge(std::move(part), *Part::of(process));
    const Trace trace = *Trace::from_bytes(*part.to_file(RunInfo{}), "sums");
    for (const ProcessRecord &process : processes) {
      const SequenceView sequence = trace.sequences(process.rank)[0];
      CallReader reader(trace, sequence);
      for (const grammar::Symbol symbol : process.sequences[0].calls.expand()) {
        ByteReader in(process.sequences[0].rows[symbol]);
        Row recorded = *unpack_row(in);
        expand_prefix_sums(&recorded);
        EXPECT_NE(recorded.fields[1].atoms, std::vector<Atom>{kPrefixSums});
        const grammar::Symbol number = reader.next();
        ASSERT_NE(number, grammar::kNoSymbol);
        for (size_t f = 0; f < recorded.fields.size(); ++f) {
          EXPECT_EQ(reader.call(number).fields[f].atoms, recorded.fields[f].atoms);
        }
      }
      for (const CountedRow &call : trace.counted_rows(sequence)) {
        EXPECT_NE(call.row.fields[1].atoms, std::vector<Atom>{kPrefixSums});
      }
    }
  }
}

/// `ranks` processes that call MPI_Alltoallv once: rank i sends `counts`[i][k] to k, and gets what is sent to it.
Part exchanging(const std::vector<std::vector<Atom>> &counts, bool changed) {
  Part part;
  for (uint32_t rank = 0; rank < counts.size(); ++rank) {
    std::vector<Atom> received;
    for (const std::vector<Atom> &row : counts) received.push_back(row[rank]);
    if (changed && rank == 3) ++received[5];
    ProcessRecord process;
    process.rank = rank;
    process.size = static_cast<uint32_t>(counts.size());
    Row row;
    row.fields = {{false, counts[rank], {}}, {false, received, {}}};
    ByteWriter out;
    pack_row(row, out);
    SequenceRecord sequence;
    sequence.rows.push_back(out.take());
    sequence.calls = grammar::Grammar::from_symbols({0});
    sequence.stats.emplace_back();
    sequence.sites.emplace_back();
    process.sequences.push_back(std::move(sequence));
    part = *Part::merge(std::move(part), *Part::of(process));
  }
  return part;
}

TEST(Exchange, WhatIsReceivedCostsLittleBesideWhatIsSent) {
  constexpr uint32_t kRanks = 40;
  std::mt19937_64 random(5);
  std::vector<std::vector<Atom>> counts(kRanks, std::vector<Atom>(kRanks));
  for (auto &row : counts) {
    for (Atom &count : row) count = 4000 + static_cast<Atom>(random() % 250);
  }
  uint64_t sizes[2];
  for (const bool changed : {false, true}) {
    const Part part = exchanging(counts, changed);
    const Trace trace = *Trace::from_bytes(*part.to_file(RunInfo{}), "exchange");
    sizes[changed ? 1 : 0] = trace.section_bytes()["columns"];
    // Written again, by those who add to it, it is the same.
    const Trace again = *Trace::from_bytes(*to_part(trace).to_file(RunInfo{}), "exchange");
    for (const Trace *each : {&trace, &again}) {
      for (uint32_t rank = 0; rank < kRanks; ++rank) {
        const Row row = each->row(0, 0, rank);
        EXPECT_EQ(row.fields[0].atoms, counts[rank]);
        for (uint32_t from = 0; from < kRanks; ++from) {
          EXPECT_EQ(row.fields[1].atoms[from], counts[from][rank] + (changed && rank == 3 && from == 5 ? 1 : 0));
        }
      }
    }
  }
  EXPECT_LE(sizes[0], kRanks * kRanks * 5 / 4);  // 1 byte a pair, and heads
  EXPECT_GT(sizes[1], kRanks * kRanks * 2);
}

}  // namespace
}  // namespace cairn::trace
