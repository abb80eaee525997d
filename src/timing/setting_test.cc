#include "timing/setting.h"

#include <gtest/gtest.h>

namespace cairn::timing {
namespace {

TEST(Setting, HasAModeABoundAndRules) {
  const Result<Setting> usual = parse_setting("context");
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->text(), "context:rel=10%");
  const Result<Setting> ruled = parse_setting("context:rel=5%,MPI_Wait*=1%,MPI_Waitall=exact,MPI_T*=0.25%");
  ASSERT_TRUE(ruled);
  EXPECT_EQ(ruled->text(), "context:rel=5%,MPI_Wait*=1%,MPI_Waitall=exact,MPI_T*=0.25%");
  EXPECT_EQ(ruled->bound_of("MPI_Send"), 50'000U);
  EXPECT_EQ(ruled->bound_of("MPI_Waitany"), 10'000U);
  EXPECT_EQ(ruled->bound_of("MPI_Waitall"), 0U);
  EXPECT_EQ(ruled->bound_of("MPI_Test"), 2'500U);
  EXPECT_EQ(parse_setting("context:3%")->text(), "context:rel=3%");
  EXPECT_EQ(parse_setting("stats")->text(), "stats");
  EXPECT_EQ(parse_setting("zfp:abs=10us,MPI_Recv=1ms")->text(), "zfp:abs=10us,MPI_Recv=1ms");
  EXPECT_EQ(parse_setting("zfp-clustered:2.5us")->bound, 2500U);
  EXPECT_TRUE(parse_setting("zfp")->is_after());
  EXPECT_FALSE(usual->is_after());
}

TEST(Setting, RulesOfCallSitesTakeTheirNames) {
  const Result<Setting> setting = parse_setting("context:rel=10%,MPI_Send=5%,halo.c:42=1%,exchange()=exact");
  ASSERT_TRUE(setting);
  EXPECT_EQ(setting->text(), "context:rel=10%,MPI_Send=5%,halo.c:42=1%,exchange()=exact");
  EXPECT_TRUE(setting->is_after());
  EXPECT_FALSE(parse_setting("context:rel=10%,MPI_Send=5%")->is_after());
  const std::vector<std::string> names = {"halo.c:42", "halo.c", "main", "main()"};
  EXPECT_EQ(setting->bound_of("MPI_Send", names), 10'000U);
  EXPECT_EQ(setting->bound_of("MPI_Send"), 50'000U);
  const std::vector<std::string> others = {"halo.c:43", "halo.c", "exchange", "exchange()"};
  EXPECT_EQ(setting->bound_of("MPI_Recv", others), 0U);
}

TEST(Setting, WhatItsTextSaysIsReadBack) {
  for (const Mode &mode : modes()) {
    const Result<Setting> setting = parse_setting(mode.name);
    ASSERT_TRUE(setting) << mode.name;
    const Result<Setting> back = parse_setting(setting->text());
    ASSERT_TRUE(back) << setting->text();
    EXPECT_EQ(back->mode, &mode);
    EXPECT_EQ(back->bound, mode.usual_bound);
  }
}

TEST(Setting, SaysHowExactTimesAre) {
  EXPECT_EQ(exactness("context:rel=10%"), "within 10%");
  EXPECT_EQ(exactness("context:rel=5%,MPI_Wait*=1%,MPI_Test=exact"), "within 5% (MPI_Wait* 1%, MPI_Test exact)");
  EXPECT_EQ(exactness("lossless"), "");
  EXPECT_EQ(exactness("stats"), "");
  EXPECT_EQ(exactness("of a later version"), "");
}

TEST(Setting, SaysWhatIsWrong) {
  const auto message = [](const char *text) {
    const Result<Setting> setting = parse_setting(text);
    return setting ? "" : setting.error().message + "; " + setting.error().hint;
  };
  EXPECT_NE(message("sometimes").find("there is no mode 'sometimes'; the modes are stats"), std::string::npos);
  for (const char *bound : {"0%", "-1%", "101%", "1e9%", "nan%", "inf%", "0.001%"}) {
    EXPECT_NE(message((std::string("context:rel=") + bound).c_str()), "") << bound;
  }
  EXPECT_NE(message("context:rel=0%").find("'0%' is out of range; write a percentage from 0.01% to 100%"),
            std::string::npos);
  EXPECT_NE(message("context:rel=10").find("'10' is no relative bound"), std::string::npos);
  EXPECT_NE(message("context:abs=10us"), "");
  EXPECT_NE(message("stats:rel=10%"), "");
  EXPECT_NE(message("lossless:rel=10%"), "");
  EXPECT_NE(message("zfp:rel=10%"), "");
  EXPECT_NE(message("zfp:abs=0us"), "");
  EXPECT_NE(message("zfp:abs=-1us"), "");
  EXPECT_NE(message("context:"), "");
  EXPECT_NE(message("context:rel=10%,"), "");
  EXPECT_NE(message("zfp:abs=1us,2us").find("'2us' is a second bound of all calls"), std::string::npos);
  EXPECT_NE(message("context:rel=10%,rel=1%"), "");
  EXPECT_NE(message("context:rel=10%:rel=1%").find("says no function or call site"), std::string::npos);
  EXPECT_NE(message("context:rel=10%,=1%").find("says no function or call site"), std::string::npos);
}

}  // namespace
}  // namespace cairn::timing
