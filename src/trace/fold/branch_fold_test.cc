// Branches leave the sequence of calls: ranks that went other ways are one class, whose steps are one loop; and what is
// read back, from any place, is what was recorded.
#include "trace/fold/branch_fold.h"

#include <gtest/gtest.h>

#include <random>

#include "trace/testing/synthetic.h"
#include "trace/testing/test_recordings.h"

namespace cairn::trace {
namespace {

void expect_seeks(const Trace &trace, const std::vector<ProcessRecord> &processes) {
  for (const ProcessRecord &process : processes) {
    const SequenceView view = trace.sequences(process.rank)[0];
    const std::vector<grammar::Symbol> calls = process.sequences[0].calls.expand();
    CallReader reader(trace, view);
    std::mt19937_64 random(process.rank);
    for (int i = 0; i < 40; ++i) {
      const size_t at = random() % calls.size();
      reader.seek(at);
      const grammar::Symbol number = reader.next();
      ASSERT_NE(number, grammar::kNoSymbol);
      ByteReader in(process.sequences[0].rows[calls[at]]);
      ASSERT_EQ(reader.call(number), *unpack_row(in));
    }
  }
}

TEST(BranchFold, RanksThatWentOtherWaysAreOneClass) {
  for (uint64_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    const auto processes = branching_program(9, seed);
    std::mt19937_64 random(seed);
    const Trace trace = merged(processes, [&random](size_t places) { return random() % places; });
    if (seed % 16 < 8) {
      EXPECT_EQ(trace.class_count(), 1U);
      // All steps are a loop.
      EXPECT_LE(trace.class_view(0).calls->rules().size(), 3U);
    }
    if (seed % 16 >= 12) {
      EXPECT_LE(trace.class_count(), 4U);  // two branches, and which way of each a rank went first
    }
    expect_same(trace, processes);
    expect_seeks(trace, processes);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace cairn::trace
