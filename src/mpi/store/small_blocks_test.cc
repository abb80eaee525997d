#include "mpi/store/small_blocks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace cairn::recorder {
namespace {

uintptr_t place(const void *block) { return reinterpret_cast<uintptr_t>(block); }

TEST(SmallBlocks, GivesEachItsOwnBytesAndThoseThatWereGivenBackAgain) {
  const SmallBlocks scope;
  std::mt19937 random(1);
  struct Held {
    std::unique_ptr<uint8_t[]> bytes;
    size_t size;
    uint8_t value;
  };
  std::vector<Held> held(500);
  for (int i = 0; i < 100000; ++i) {
    Held &one = held[random() % held.size()];
    for (size_t k = 0; k < one.size; ++k) ASSERT_EQ(one.bytes[k], one.value);
    one.size = random() % 700;
    one.value = static_cast<uint8_t>(random());
    one.bytes = std::make_unique<uint8_t[]>(one.size);
    ASSERT_EQ(place(one.bytes.get()) % 16, 0U);
    memset(one.bytes.get(), one.value, one.size);
  }
}

TEST(SmallBlocks, PacksBlocksOfASizeAndUsesThemAgain) {
  const SmallBlocks scope;
  const auto first = std::make_unique<uint64_t>(1);
  auto second = std::make_unique<uint64_t>(2);
  const uintptr_t where = place(second.get());
  EXPECT_EQ(where, place(first.get()) + 16);  // malloc's lie further apart
  second.reset();
  EXPECT_EQ(place(std::make_unique<uint64_t>(3).get()), where);
}

TEST(SmallBlocks, LargeOnesServeAgainAndMakeNothingLarger) {
  constexpr size_t kLarge = 300'000;
  using Bytes = std::vector<uint8_t>;  // from the plain operator new, which sanitizers leave to us
  const SmallBlocks scope;
  SmallBlocks::count_anew();
  const size_t before = SmallBlocks::most_held();
  auto first = std::make_unique<Bytes>(kLarge);
  const uintptr_t where = place(first->data());
  first.reset();
  first = std::make_unique<Bytes>(kLarge - 1000);  // a little smaller
  EXPECT_EQ(place(first->data()), where);
  const Bytes second(kLarge);
  EXPECT_NE(place(second.data()), where);
  first.reset();
  // Much smaller: not that one.
  const Bytes third(kLarge / 4);
  EXPECT_NE(place(third.data()), where);
  // Past what is held without further ado: what is kept makes way for what is asked for.
  constexpr size_t kMany = 40UL << 20;
  for (size_t i = 1; i <= 8; ++i) EXPECT_EQ(Bytes(kMany * i / 8).back(), 0);
  EXPECT_LT(SmallBlocks::most_held() - before, kMany + 2 * kLarge);
}

TEST(SmallBlocks, LeavesWhatOutlivesTheScopeWhereItIs) {
  // In a thread of its own: the scope is never given back.
  std::unique_ptr<std::string> outlives;
  std::thread([&] {
    const SmallBlocks scope;
    outlives = std::make_unique<std::string>(100, 'x');
  }).join();
  EXPECT_EQ(*outlives, std::string(100, 'x'));
  {
    // A further scope has nothing to give, and says so to nobody.
    const SmallBlocks scope;
    const std::map<int, std::string> many = {{1, std::string(30, 'a')}, {2, std::string(60, 'b')}};
    EXPECT_EQ(many.at(2), std::string(60, 'b'));
  }
  outlives.reset();
}

}  // namespace
}  // namespace cairn::recorder
