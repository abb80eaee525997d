// Arena: what is given back is used again, zeroed, and by whichever thread.
#include "base/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace cairn {
namespace {

class ArenaTest : public ::testing::Test {
 protected:
  static constexpr size_t kSize = size_t{64} << 20;
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_{std::memset(std::aligned_alloc(4096, kSize), 0, kSize)};
  Arena arena_{memory_.get(), kSize};

  static bool is_zero(const void *block, size_t size) {
    const auto *bytes = static_cast<const uint8_t *>(block);
    return std::all_of(bytes, bytes + size, [](uint8_t byte) { return byte == 0; });
  }
};

TEST_F(ArenaTest, SurrendersPagesInWhichNothingIsInUse) {
  std::vector<std::pair<void *, size_t>> small;
  for (int i = 0; i < 2000; ++i) small.emplace_back(arena_.allocate(96), 96);
  const std::vector<std::pair<void *, size_t>> large = {{arena_.allocate(100'000), 100'000},
                                                        {arena_.allocate(5000), 5000}};
  const size_t touched = arena_.touched();
  // One of the small ones stays, and its page with it.
  void *kept = small[700].first;
  std::memset(kept, 0x55, 96);
  for (const auto &blocks : {small, large}) {
    for (const auto &[block, size] : blocks) {
      if (block != kept) arena_.release(block, size);
    }
  }
  arena_.clean();
  static std::vector<std::pair<uintptr_t, size_t>> gone;
  gone.clear();
  std::vector<uint32_t> free_in_page(kSize / 4096);
  arena_.surrender(free_in_page.data(), [](void *pages, size_t bytes) {
    gone.emplace_back(reinterpret_cast<uintptr_t>(pages), bytes);
    std::memset(pages, 0xee, bytes);
  });
  size_t bytes = 0;
  for (const auto &[at, size] : gone) {
    EXPECT_EQ(at % 4096, 0U);
    EXPECT_TRUE(reinterpret_cast<uintptr_t>(kept) + 96 <= at || reinterpret_cast<uintptr_t>(kept) >= at + size);
    bytes += size;
  }
  EXPECT_EQ(arena_.resident(), touched - bytes);
  EXPECT_GT(bytes, touched - 4 * 4096);
  EXPECT_EQ(*static_cast<uint8_t *>(kept), 0x55);
  // What is handed out now lies elsewhere.
  for (int i = 0; i < 3000; ++i) {
    const size_t wanted = i % 2 == 0 ? 96 : 5000;
    void *block = arena_.allocate(wanted);
    ASSERT_TRUE(is_zero(block, wanted));
    for (const auto &[at, size] : gone) {
      ASSERT_TRUE(reinterpret_cast<uintptr_t>(block) + wanted <= at || reinterpret_cast<uintptr_t>(block) >= at + size);
    }
  }
}

TEST_F(ArenaTest, GivesZeroedMemoryAgainWhetherCleanedOrNot) {
  const std::vector<size_t> sizes = {16,    40,    64,     96,     4096,    65535,  65536,
                                     70000, 98304, 131072, 150000, 1 << 20, 3 << 20};
  for (const bool cleaned : {false, true}) {
    for (const size_t size : sizes) {
      void *block = arena_.allocate(size);
      ASSERT_NE(block, nullptr);
      std::memset(block, 0xff, size);
      const size_t used = arena_.used();
      arena_.release(block, size);
      EXPECT_LT(arena_.used(), used);
      if (cleaned) arena_.clean();
      void *again = arena_.allocate(size);
      EXPECT_EQ(again, block) << size;
      EXPECT_TRUE(is_zero(again, size)) << size;
      EXPECT_EQ(arena_.used(), used);
      arena_.release(again, size);
    }
  }
  EXPECT_EQ(arena_.used(), 0U);
}

TEST_F(ArenaTest, ZeroesBlocksOfMemoryThatHeldSomething) {
  std::memset(memory_.get(), 0xff, kSize);
  Arena arena(memory_.get(), kSize, Arena::Fresh::as_it_is);
  for (const size_t size : {16, 40, 4096, 150000}) {
    const void *block = arena.allocate(size);
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(is_zero(block, size)) << size;
  }
}

TEST_F(ArenaTest, CutsWhatIsTooLargeWhenNothingElseIsLeft) {
  const std::vector<size_t> large = {size_t{32} << 20, size_t{16} << 20, size_t{8} << 20, size_t{4} << 20};
  std::vector<void *> blocks;
  for (const size_t size : large) blocks.push_back(arena_.allocate(size));
  while (arena_.allocate(16) != nullptr) {
  }
  EXPECT_NE(arena_.shortages(), 0U);
  for (size_t i = 0; i < large.size(); ++i) {
    std::memset(blocks[i], 0xff, large[i]);
    arena_.release(blocks[i], large[i]);
  }
  // All of it serves for small ones again: aligned, zero, and none of them twice.
  const std::vector<size_t> sizes = {16, 100, 32, 200, 1000, 64, 5000};
  std::vector<std::pair<uintptr_t, size_t>> given;
  size_t bytes = 0;
  for (size_t i = 0;; ++i) {
    const size_t size = sizes[i % sizes.size()];
    void *block = arena_.allocate(size);
    if (block == nullptr) break;
    ASSERT_EQ(reinterpret_cast<uintptr_t>(block) % (size >= 64 ? 64 : 16), 0U);
    ASSERT_TRUE(is_zero(block, size));
    std::memset(block, 0xff, size);
    given.emplace_back(reinterpret_cast<uintptr_t>(block), size);
    bytes += size;
  }
  EXPECT_GT(bytes, size_t{40} << 20);
  std::sort(given.begin(), given.end());
  for (size_t i = 1; i < given.size(); ++i) ASSERT_LE(given[i - 1].first + given[i - 1].second, given[i].first);
}

TEST_F(ArenaTest, IsCleanedAndFilledByOthersMeanwhile) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 500;
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0;
  std::thread cleaner([&] {
    while (!done) arena_.clean();
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        const size_t size = size_t{1} << (5 + i % 13);  // up to 128 KiB
        void *blocks[3];
        for (void *&block : blocks) {
          block = arena_.allocate(size);
          if (block == nullptr || !is_zero(block, size)) {
            ++wrong;
          } else {
            std::memset(block, t + 1, size);
          }
        }
        for (void *block : blocks) {
          if (block == nullptr) continue;
          if (static_cast<uint8_t *>(block)[size - 1] != t + 1) ++wrong;
          arena_.release(block, size);
        }
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  done = true;
  cleaner.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(arena_.used(), 0U);
}

}  // namespace
}  // namespace cairn
