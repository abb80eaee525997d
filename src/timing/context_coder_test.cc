#include "timing/context_coder.h"

#include <gtest/gtest.h>

#include "timing/context_coder_plain.h"
#include "timing/group_numbers.h"
#include "timing/made_up_times.h"

namespace cairn::timing {
namespace {

constexpr size_t kCalls = 5000;

TEST(ContextCoder, IsTheSameWithoutSse2) {
  for (const MadeUpTimes &made : made_up_times(kCalls)) {
    for (const uint64_t bound : {0U, 10'000U, 100'000U}) {
      GroupNumbers numbers;
      numbers.begin_block();
      for (const uint32_t group : made.groups) numbers.add(group, group % 5 == 4 ? 0 : bound);
      std::vector<CallTime> fast = made.times;
      std::vector<CallTime> plain = made.times;
      Bytes fast_bytes;
      Bytes plain_bytes;
      encode_context(numbers.calls(), fast, &fast_bytes);
      encode_context_plain(numbers.calls(), plain, &plain_bytes);
      ASSERT_EQ(fast_bytes, plain_bytes) << made.name;
      ASSERT_EQ(fast, plain);
      std::vector<CallTime> back(kCalls);
      ASSERT_TRUE(decode_context_plain(numbers.calls(), fast_bytes, back));
      ASSERT_EQ(back, fast) << made.name;
      ASSERT_TRUE(decode_context(numbers.calls(), fast_bytes, back));
      ASSERT_EQ(back, fast) << made.name;
    }
  }
}

TEST(ContextCoder, WhatRepeatsCostsNearlyNothing) {
  const MadeUpTimes made = made_up_times(20'000)[0];
  GroupNumbers numbers;
  numbers.begin_block();
  for (const uint32_t group : made.groups) numbers.add(group, 100'000);
  std::vector<CallTime> times = made.times;
  Bytes bytes;
  encode_context(numbers.calls(), times, &bytes);
  EXPECT_LT(bytes.size(), 120U);
}

}  // namespace
}  // namespace cairn::timing
