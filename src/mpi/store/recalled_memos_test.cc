#include "mpi/store/recalled_memos.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <vector>

namespace cairn::recorder {
namespace {

class Recalled : public testing::Test {
 protected:
  static constexpr size_t kSize = size_t{1} << 20;
  std::unique_ptr<void, decltype(&std::free)> memory_{std::aligned_alloc(4096, kSize), std::free};
  Arena arena_{memory_.get(), kSize, Arena::Fresh::as_it_is};
  RecalledMemos memos_;
};

TEST_F(Recalled, FindsWhatWasKept) {
  std::vector<Memo> all(200);
  EXPECT_EQ(memos_.find(1), nullptr);
  // Keys that fall into one place, too.
  const auto key = [](size_t i) { return uint64_t{1} << 63 | (i % 2 == 0 ? i : i << 32); };
  for (size_t i = 0; i < all.size(); ++i) memos_.keep(arena_, key(i), &all[i]);
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(memos_.find(key(i)), &all[i]) << i;
  EXPECT_EQ(memos_.find(key(all.size())), nullptr);
  memos_.keep(arena_, key(3), &all[4]);
  EXPECT_EQ(memos_.find(key(3)), &all[4]);
  memos_.clear();
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(memos_.find(key(i)), nullptr);
}

TEST_F(Recalled, KeepsAsManyAsTakeASixteenthOfTheArena) {
  Memo memo = {};
  for (uint64_t key = 1; key < 10000; ++key) memos_.keep(arena_, key, &memo);
  EXPECT_TRUE(memos_.is_full(arena_));
  uint64_t found = 0;
  for (uint64_t key = 1; key < 10000; ++key) found += memos_.find(key) == nullptr ? 0 : 1;
  EXPECT_EQ(found, kSize / 16 / sizeof(Memo));
}

TEST_F(Recalled, DoesWithoutMemory) {
  while (arena_.allocate(16) != nullptr) {
  }
  Memo memo = {};
  memos_.keep(arena_, 1, &memo);
  EXPECT_EQ(memos_.find(1), nullptr);
}

}  // namespace
}  // namespace cairn::recorder
