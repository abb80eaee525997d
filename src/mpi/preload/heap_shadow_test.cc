#include "mpi/preload/heap_shadow.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace cairn::preload {
namespace {

/// Sizes of the allocations that the test makes up; the shadow never touches their memory.
std::map<uintptr_t, size_t> live;

size_t usable(void *block) {
  const auto found = live.find(reinterpret_cast<uintptr_t>(block));
  return found == live.end() ? 0 : found->second;
}

constexpr uintptr_t kStart = uintptr_t{0x5500} << 32;
constexpr size_t kMiB = 1 << 20;

struct HeapShadowTest : testing::TestWithParam<bool> {
  void SetUp() override {
    live.clear();
    ASSERT_TRUE(shadow.switch_on(usable, GetParam()));
  }
  void add(uintptr_t start, size_t size) {
    live[start] = size;
    shadow.note(start, size);
  }
  bool remove(uintptr_t start) {
    const bool tracked = shadow.drop(start);
    live.erase(start);
    return tracked;
  }
  /// Start of what holds `address`; 0 if nothing does.
  uintptr_t holder(uintptr_t address) {
    CairnAllocation found = {};
    if (!shadow.find(address, &found)) return 0;
    EXPECT_EQ(found.size, live[found.start]);
    return found.start;
  }
  HeapShadow shadow = {};
};

TEST_P(HeapShadowTest, FindsByAnyAddressInside) {
  add(kStart + 16, 100);
  EXPECT_EQ(holder(kStart + 16), kStart + 16);
  EXPECT_EQ(holder(kStart + 115), kStart + 16);
  EXPECT_EQ(holder(kStart + 116), 0U);
  EXPECT_EQ(holder(kStart + 15), 0U);
  EXPECT_EQ(holder(0), 0U);
  EXPECT_EQ(holder(UINTPTR_MAX), 0U);
}

TEST_P(HeapShadowTest, TellsWhatWasTracked) {
  add(kStart, 100);
  add(kStart + 128, 100);
  EXPECT_EQ(holder(kStart + 50), kStart);
  EXPECT_TRUE(remove(kStart));
  EXPECT_FALSE(remove(kStart + 128));
  EXPECT_EQ(holder(kStart + 50), 0U);
  add(kStart, 100);
  EXPECT_FALSE(remove(kStart)) << "a new allocation at the place of a tracked one";
}

TEST_P(HeapShadowTest, LargeOnes) {
  for (const size_t size : {129UL << 10, 1 * kMiB, 70 * kMiB, 300 * kMiB, 5000 * kMiB}) {
    const uintptr_t start = kStart + 3 * kMiB + 48;
    add(kStart, 64);
    add(start, size);
    add(start + size + 16, 64);
    for (const uintptr_t inside : {start, start + 128 * 1024, start + size / 3, start + size / 2, start + size - 1}) {
      EXPECT_EQ(holder(inside), start) << size;
    }
    EXPECT_EQ(holder(start + size), 0U);
    EXPECT_EQ(holder(start + size + 79), start + size + 16);
    EXPECT_TRUE(remove(start));
    EXPECT_EQ(holder(start + size / 2), 0U);
    add(start, size);
    EXPECT_FALSE(remove(start));
    EXPECT_FALSE(remove(kStart));
    EXPECT_TRUE(remove(start + size + 16));
  }
}

TEST_P(HeapShadowTest, AgreesWithAMap) {
  std::mt19937_64 random(11);
  std::map<uintptr_t, bool> tracked;
  const uintptr_t spacing = GetParam() ? 32 : 8;  // what the allocator keeps apart
  const auto neighbour_above = [](uintptr_t start) { return live.lower_bound(start); };
  for (int step = 0; step < 200000; ++step) {
    const uintptr_t at = kStart + random() % (200 * kMiB);
    if (random() % 3 != 0) {
      uintptr_t start = at & ~(GetParam() ? uintptr_t{15} : uintptr_t{7});
      size_t size = 8 + random() % 200;
      if (random() % 20 == 0) size = random() % (400 << 10) + 8;
      if (random() % 500 == 0) size = random() % (90 * kMiB) + 8;
      const auto above = neighbour_above(start);
      if (above != live.end() && above->first < start + (size < spacing ? spacing : size)) continue;
      if (above != live.begin()) {
        const auto below = std::prev(above);
        if (below->first + (below->second < spacing ? spacing : below->second) > start) continue;
      }
      add(start, size);
      tracked[start] = false;
    } else if (!live.empty()) {
      auto victim = neighbour_above(at);
      if (victim == live.end()) victim = live.begin();
      const uintptr_t start = victim->first;
      ASSERT_EQ(remove(start), tracked[start]);
      tracked.erase(start);
    }
    const uintptr_t probe = kStart + random() % (200 * kMiB);
    auto expected = live.upper_bound(probe);
    uintptr_t start = 0;
    if (expected != live.begin()) {
      --expected;
      if (probe - expected->first < expected->second) start = expected->first;
    }
    ASSERT_EQ(holder(probe), start) << "step " << step;
    if (start != 0) tracked[start] = true;
  }
}

TEST_P(HeapShadowTest, OffFindsNothing) {
  add(kStart, 100);
  shadow.switch_off();
  EXPECT_EQ(holder(kStart), 0U);
  add(kStart + 200, 100);
  EXPECT_FALSE(remove(kStart));
}

INSTANTIATE_TEST_SUITE_P(Allocators, HeapShadowTest, testing::Values(true, false),
                         [](const auto &test) { return test.param ? "Exclusive" : "Shared"; });

}  // namespace
}  // namespace cairn::preload
