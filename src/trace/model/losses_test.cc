#include "trace/model/losses.h"

#include <gtest/gtest.h>

namespace cairn::trace {
namespace {

TEST(Losses, ReadBackAsTheyWereWritten) {
  const std::vector<Loss> losses = {{"memory limit reached", 0, false},
                                    {"a call stands without arguments", 130'699, true},
                                    {"a thread's calls are lost", 0, true},
                                    {"a call waited", 3, false},
                                    {"a call was left out on request", 12, false, true}};
  EXPECT_EQ(write_losses(losses),
            "memory limit reached\n!130699 a call stands without arguments\n!a thread's calls are lost\n"
            "3 a call waited\n-12 a call was left out on request");
  EXPECT_EQ(read_losses(write_losses(losses)), losses);
  EXPECT_TRUE(read_losses("").empty());
}

TEST(Losses, WhatEarlierVersionsWroteIsAReason) {
  EXPECT_EQ(read_losses("memory ran out after 4 calls"),
            (std::vector<Loss>{{"memory ran out after 4 calls", 0, false}}));
  EXPECT_EQ(read_losses("7"), (std::vector<Loss>{{"7", 0, false}}));
  EXPECT_EQ(read_losses("99999999999999999999 x"), (std::vector<Loss>{{"99999999999999999999 x", 0, false}}));
}

}  // namespace
}  // namespace cairn::trace
