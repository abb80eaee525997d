// Files of every version of the format, as bytes: what they hold must be read the same for ever. There is one for each
// kind of trace, written once by sample_trace from these seeds: stencil 0, stats 1, lossless 2, streams 101, exchanged
// 201, drains 301, waits 353, polls 400, branches 451, blocks 501, nested 502 (times of nested calls), corrections 552,
// bundles 600, gaps 50, heap 66, threads 84, times 7 (exact and within 1 %; those of lossless, blocks and corrections
// are chunks).
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "trace/model/class_checks.h"
#include "trace/read/trace_body.h"
#include "trace/testing/plain_text.h"

namespace cairn::trace {
namespace {

class Golden : public ::testing::TestWithParam<const char *> {};

TEST_P(Golden, IsReadAsEver) {
  std::string base = CAIRN_TRACE_TESTDATA "/";
  base += GetParam();
  const Result<Trace> trace = Trace::open(base + ".cairn");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  std::ifstream file(base + ".txt");
  std::ostringstream expected;
  expected << file.rdbuf();
  ASSERT_FALSE(expected.str().empty());
  EXPECT_EQ(plain_text(*trace), expected.str());
  // Rows have nothing that no field is made of: nobody else would see it.
  for (uint32_t i = 0; i < trace->class_count(); ++i) EXPECT_TRUE(is_sound(class_part_of(*trace, i))) << i;
}

TEST_P(Golden, ResultsOfRowsAreThoseOfTheirCalls) {
  const Result<Trace> trace = Trace::open(std::string(CAIRN_TRACE_TESTDATA "/") + GetParam() + ".cairn");
  ASSERT_TRUE(trace.has_value());
  for (uint32_t i = 0; i < trace->class_count(); ++i) {
    const std::vector<std::optional<Field>> results = trace->results(i);
    const ClassView view = trace->class_view(i);
    ASSERT_EQ(results.size(), view.rows);
    for (const uint32_t rank : view.ranks) {
      for (const CountedRow &call : trace->counted_rows({rank, view.thread, view.segment, i, 0})) {
        const std::optional<Field> &result = results[call.class_row];
        if (!result || call.row.fields.empty()) continue;
        EXPECT_EQ(*result, call.row.fields.back()) << "class " << i << " row " << call.class_row;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Version1, Golden,
                         ::testing::Values("v1-stencil", "v1-stats", "v1-lossless", "v1-streams", "v1-exchanged",
                                           "v1-drains", "v1-waits", "v1-polls", "v1-branches", "v1-blocks", "v1-nested",
                                           "v1-corrections", "v1-bundles", "v1-times", "v1-gaps", "v1-heap",
                                           "v1-threads"));

}  // namespace
}  // namespace cairn::trace
