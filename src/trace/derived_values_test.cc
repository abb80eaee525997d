// Displacements that are running sums: put back for every reader, on ranks that agree and on ranks that do not.
#include "trace/derived_values.h"

#include <gtest/gtest.h>

#include <utility>

#include "trace/call_reader.h"
#include "trace/part.h"
#include "trace/synthetic.h"
#include "trace/trace.h"

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
    const Trace trace = *Trace::from_bytes(part.to_file(RunInfo{}), "sums");
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

}  // namespace
}  // namespace cairn::trace
