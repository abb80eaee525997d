#include "timing/binning.h"

#include <gtest/gtest.h>

#include <random>

namespace cairn::timing {
namespace {

__extension__ using Wide = unsigned __int128;

bool within(uint64_t value, uint64_t read, uint32_t bound) {
  const Wide off = value > read ? value - read : read - value;
  return off * 1'000'000 <= static_cast<Wide>(value) * bound;
}

class BinsOf : public ::testing::TestWithParam<uint32_t> {};

TEST_P(BinsOf, HoldsForEveryValue) {
  const Binning bins(GetParam());
  std::mt19937_64 random(1);
  const auto check = [&](uint64_t value) {
    const uint32_t bin = bins.bin(value);
    ASSERT_LT(bin, bins.count()) << value;
    ASSERT_TRUE(within(value, bins.value(bin), GetParam())) << value << " read as " << bins.value(bin);
    ASSERT_EQ(bins.extra_bits(bin), 0);
  };
  for (uint64_t value = 0; value < 100'000; ++value) check(value);
  for (int i = 0; i < 200'000; ++i) check(random() >> random() % 64);
  for (int shift = 0; shift < 64; ++shift) {
    for (uint64_t near : {UINT64_C(0) - 1, UINT64_C(0), UINT64_C(1)}) check((uint64_t{1} << shift) + near);
  }
  check(UINT64_MAX);
}

TEST_P(BinsOf, BinsAreAscendingAndNoneIsEmpty) {
  const Binning bins(GetParam());
  for (uint32_t bin = 1; bin < bins.count(); ++bin) {
    ASSERT_GT(bins.value(bin), bins.value(bin - 1));
    ASSERT_EQ(bins.bin(bins.value(bin)), bin);
  }
}

INSTANTIATE_TEST_SUITE_P(Bounds, BinsOf, ::testing::Values(kLeastBound, 1000, 10'000, 100'000, 500'000, kMostBound));

TEST(Binning, HasAsFewBinsAsItsHeaderSays) {
  EXPECT_EQ(Binning(100'000).bits(), 8);
  EXPECT_EQ(Binning(100'000).count(), 219U);
  EXPECT_EQ(Binning(10'000).count(), 2086U);
  EXPECT_EQ(Binning(100'000).value(Binning(100'000).bin(125)), 113U);
}

TEST(Binning, ExactBinsTellEachValueByTheirBits) {
  const Binning bins(0);
  EXPECT_EQ(bins.bits(), 8);
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t value = i < 1000 ? static_cast<uint64_t>(i) : random() >> random() % 64;
    const uint32_t bin = bins.bin(value);
    ASSERT_LT(bin, bins.count());
    const uint64_t rest = value - bins.value(bin);
    const int bits = bins.extra_bits(bin);
    ASSERT_TRUE(value >= bins.value(bin) && (bits == 64 || rest >> bits == 0)) << value;
  }
}

}  // namespace
}  // namespace cairn::timing
