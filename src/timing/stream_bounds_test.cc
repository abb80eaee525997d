#include <gtest/gtest.h>

#include "timing/made_up_times.h"
#include "timing/mode.h"
#include "timing/stream_promises.h"

namespace cairn::timing {
namespace {

class StreamsOf : public ::testing::TestWithParam<uint64_t> {};
TEST_P(StreamsOf, ContextKeepsItsPromises) {
  for (const MadeUpTimes &made : made_up_times(50'000)) expect_promises_kept(made, *mode_named("context"), GetParam());
}
INSTANTIATE_TEST_SUITE_P(Bounds, StreamsOf, ::testing::Values(0, 100, 10'000, 100'000, 1'000'000));

}  // namespace
}  // namespace cairn::timing
