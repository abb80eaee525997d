#include "analyze/filter.h"

#include <gtest/gtest.h>

#include "text/rank_list.h"

namespace cairn::analyze {
namespace {

TEST(Ranks, AreReadInAnyOrderAndEachOnce) {
  EXPECT_EQ(*parse_ranks("12,0-3,2"), (std::vector<uint32_t>{0, 1, 2, 3, 12}));
  EXPECT_EQ(*parse_ranks("4294967295"), (std::vector<uint32_t>{4294967295U}));
  EXPECT_EQ(*parse_ranks("4294967294-4294967295"), (std::vector<uint32_t>{4294967294U, 4294967295U}));
}

TEST(Ranks, WhatIsNoListIsAnError) {
  for (const char *text : {"", ",", "1,", "a", "1-", "-1", "3-2", "1 2", "4294967296", "0-4294967295"}) {
    EXPECT_FALSE(parse_ranks(text)) << text;
  }
}

TEST(Ranks, AreWrittenAsTheyAreRead) {
  EXPECT_EQ(ranks_text({0, 1, 2, 3, 5, 7, 8}), "0-3,5,7-8");
  EXPECT_EQ(ranks_text({}), "");
}

TEST(Duration, HasUnits) {
  EXPECT_EQ(*parse_duration("1"), 1'000'000'000U);
  EXPECT_EQ(*parse_duration("1.5s"), 1'500'000'000U);
  EXPECT_EQ(*parse_duration("20ms"), 20'000'000U);
  EXPECT_EQ(*parse_duration("7us"), 7'000U);
  EXPECT_EQ(*parse_duration("0ns"), 0U);
}

TEST(Duration, WhatIsNoTimeIsAnError) {
  for (const char *text : {"", "s", "1m", "-1s", "nan", "inf", "1e300", "1 s", "10000000000s"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

}  // namespace
}  // namespace cairn::analyze
