// Calls come when they end; timelines want them as they begin.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export/walk.h"

namespace cairn::exporting {
namespace {

using testing::ElementsAre;

class NestingTest : public testing::Test {
 protected:
  void add(uint64_t index, uint32_t depth, uint64_t begin, uint64_t end, uint32_t thread = 0) {
    Call call;
    call.index = index;
    call.depth = depth;
    call.begin_ns = begin;
    call.end_ns = end;
    call.thread = thread;
    nesting_.add(std::move(call));
  }
  std::vector<std::string> told_;
  Nesting nesting_{[this](const Call &call) { told_.push_back(fmt::format("+{}@{}", call.index, call.begin_ns)); },
                   [this](const Call &call) { told_.push_back(fmt::format("-{}@{}", call.index, call.end_ns)); }};
};

TEST_F(NestingTest, TellsTheOuterCallFirst) {
  add(0, 0, 1, 2);
  add(1, 2, 12, 13);
  add(2, 1, 11, 14);
  add(3, 1, 15, 16);
  EXPECT_TRUE(nesting_.holds());
  EXPECT_THAT(told_, ElementsAre("+0@1", "-0@2"));
  add(4, 0, 10, 20);
  EXPECT_FALSE(nesting_.holds());
  EXPECT_THAT(told_,
              ElementsAre("+0@1", "-0@2", "+4@10", "+2@11", "+1@12", "-1@13", "-2@14", "+3@15", "-3@16", "-4@20"));
}

TEST_F(NestingTest, ThreadsDoNotStandInEachOther) {
  add(0, 1, 5, 6, 1);
  add(1, 0, 4, 9, 0);
  add(2, 0, 3, 8, 1);
  EXPECT_THAT(told_, ElementsAre("+1@4", "-1@9", "+2@3", "+0@5", "-0@6", "-2@8"));
}

TEST_F(NestingTest, TimesNeverGoBack) {
  add(0, 0, 10, 20);
  add(1, 0, 18, 19);  // began before the last one ended: times that are not exact
  add(2, 1, 30, 60);
  add(3, 0, 35, 50);  // ends before, and begins behind, what stands in it
  EXPECT_THAT(told_, ElementsAre("+0@10", "-0@20", "+1@20", "-1@20", "+3@30", "+2@30", "-2@60", "-3@60"));
}

TEST_F(NestingTest, TellsWhatWasLeftOpen) {
  add(0, 2, 3, 4);
  add(1, 1, 2, 5);
  nesting_.finish();
  EXPECT_THAT(told_, ElementsAre("+1@2", "+0@3", "-0@4", "-1@5"));
}

}  // namespace
}  // namespace cairn::exporting
