// Files of every format version that ever was, as bytes: what they hold must be read the same for ever.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

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
}

INSTANTIATE_TEST_SUITE_P(Version1, Golden, ::testing::Values("v1-stencil", "v1-stats"));
INSTANTIATE_TEST_SUITE_P(Version2, Golden, ::testing::Values("v2-streams", "v2-polls", "v2-stats"));

}  // namespace
}  // namespace cairn::trace
