#include "mpi/names/call_stack.h"

#include <execinfo.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace cairn::recorder {
namespace {

std::vector<uintptr_t> folded(std::initializer_list<uintptr_t> addresses) {
  std::vector<uintptr_t> result(addresses.size() + 1);
  size_t count = 0;
  for (const uintptr_t address : addresses) count = push_folded(result.data(), count, address);
  result.resize(count);
  return result;
}

using Addresses = std::vector<uintptr_t>;

TEST(PushFolded, KeepsWhatDoesNotRepeat) {
  EXPECT_EQ(folded({}), Addresses());
  EXPECT_EQ(folded({7}), Addresses({7}));
  EXPECT_EQ(folded({1, 2, 1, 3, 2}), Addresses({1, 2, 1, 3, 2}));
}

TEST(PushFolded, FoldsDirectRecursionOfAnyDepth) {
  EXPECT_EQ(folded({1, 2, 2, 3}), Addresses({1, 2, 3}));
  EXPECT_EQ(folded({1, 2, 2, 2, 2, 2, 2, 2, 3}), Addresses({1, 2, 3}));
}

TEST(PushFolded, FoldsIndirectRecursion) {
  EXPECT_EQ(folded({1, 2, 3, 2, 3, 2, 3, 9}), Addresses({1, 2, 3, 9}));
  EXPECT_EQ(folded({1, 2, 3, 2, 3, 2, 9}), Addresses({1, 2, 3, 2, 9})) << "half a cycle stays";
  EXPECT_EQ(folded({2, 2, 3, 2, 2, 3, 2, 3}), Addresses({2, 3})) << "recursion in recursion";
}

TEST(PushFolded, FoldsCyclesUpToTheLongest) {
  for (const size_t length : {kLongestCycle, kLongestCycle + 1}) {
    std::vector<uintptr_t> room(4 * length);
    size_t count = 0;
    for (int turn = 0; turn < 3; ++turn) {
      for (uintptr_t i = 0; i < length; ++i) count = push_folded(room.data(), count, 100 + i);
    }
    EXPECT_EQ(count, length == kLongestCycle ? length : 3 * length);
  }
}

/// Walks of this program's own stack.
struct CallStacksTest : testing::Test {
  std::vector<uint64_t> memory = std::vector<uint64_t>(1 << 20);
  Arena arena{memory.data(), memory.size() * sizeof(uint64_t)};
  uint32_t epoch = 0;
  Modules modules{arena, nullptr};
  SiteTable plain{arena, modules, &epoch};
  PythonSites python{arena, modules, nullptr};
  CallStacks stacks{arena, modules, plain, python, &epoch};
  ThreadStack stack = ThreadStack::of_calling_thread(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
  Addresses by_backtrace;

  CallStacksTest() { modules.use_epoch(&epoch); }

  /// Stands in for a wrapper.
  [[gnu::noinline]] Site *call() {
    void *addresses[64];
    const int count = backtrace(addresses, 64);
    by_backtrace.clear();
    for (int i = 1; i < count; ++i) by_backtrace.push_back(reinterpret_cast<uintptr_t>(addresses[i]));
    Site *site = plain.find(reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
    return stacks.find(site, reinterpret_cast<uintptr_t>(__builtin_frame_address(0)), stack);
  }
  [[gnu::noinline]] Site *direct(int depth) {
    Site *site = depth == 0 ? call() : direct(depth - 1);
    calls = calls + 1;
    return site;
  }
  [[gnu::noinline]] Site *even(int depth) {
    Site *site = depth == 0 ? call() : odd(depth - 1);
    calls = calls + 1;
    return site;
  }
  [[gnu::noinline]] Site *odd(int depth) {
    Site *site = even(depth - 1);
    calls = calls - 1;
    return site;
  }
  /// Its frame's address lies in memory.
  [[gnu::noinline]] Site *realigned(size_t size) {
    alignas(128) volatile char aligned[128];
    auto *room = static_cast<volatile char *>(__builtin_alloca(size));
    aligned[size % 128] = 1;
    room[0] = 1;
    Site *site = call();
    calls = calls + aligned[0] + room[0];
    return site;
  }
  Addresses chain(const Site *site) const {
    Addresses result;
    for (; site != nullptr; site = site->caller) {
      result.push_back(site->offset + modules[static_cast<int>(site->module)].load_base);
    }
    return result;
  }
  /// Sanitizers put frames of their own in front.
  [[nodiscard]] Addresses backtrace_from(uintptr_t first) const {
    return {std::find(by_backtrace.begin(), by_backtrace.end(), first), by_backtrace.end()};
  }
  volatile int calls = 0;
};

TEST_F(CallStacksTest, AgreesWithTheUnwinderOfTheCompiler) {
  const Site *site = direct(0);
  const Addresses got = chain(site);
  ASSERT_GE(got.size(), 5U);
  Addresses expected = backtrace_from(got[0]);
  // The C library around main is left out.
  ASSERT_LT(got.size(), expected.size());
  EXPECT_GE(got.size() + 3, expected.size());
  expected.resize(got.size());
  EXPECT_EQ(got, expected);
}

TEST_F(CallStacksTest, GetsPastRealignedFrames) {
  const Addresses got = chain(realigned(300));
  ASSERT_GE(got.size(), 5U);
  Addresses expected = backtrace_from(got[0]);
  expected.resize(got.size());
  EXPECT_EQ(got, expected);
}

TEST_F(CallStacksTest, DepthOfRecursionDoesNotMatter) {
  const int depths[] = {0, 1, 2, 17, 1000, 20000};
  std::vector<Site *> sites;
  std::vector<Site *> indirect;
  for (const int depth : depths) sites.push_back(direct(depth));
  for (const int depth : depths) indirect.push_back(even(depth / 2 * 2));
  EXPECT_NE(sites[0], sites[1]);
  EXPECT_EQ(chain(sites[1]).size(), chain(sites[0]).size() + 1);
  for (size_t i = 2; i < std::size(depths); ++i) {
    EXPECT_EQ(sites[i], sites[1]) << depths[i];
    EXPECT_EQ(indirect[i], indirect[2]) << depths[i];
  }
  EXPECT_EQ(chain(indirect[2]).size(), chain(sites[0]).size() + 2);
}

TEST_F(CallStacksTest, CallersTellStacksApart) {
  Site *one = direct(0);
  Site *other = direct(0);
  EXPECT_NE(one, other);
  EXPECT_EQ(one->offset, other->offset);
  EXPECT_EQ(one->caller->caller, other->caller->caller);
}

TEST_F(CallStacksTest, EndsWhereTheStackEnds) {
  const uintptr_t here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const size_t whole = chain(direct(0)).size();
  stack.high = here + 8;
  const size_t cut = chain(direct(0)).size();
  EXPECT_LT(cut, whole);
  EXPECT_GE(cut, 1U);
  stack = {here + 4096, here + 8192, here + 4096};
  EXPECT_EQ(direct(0)->caller, nullptr) << "the program has switched to another stack";
}

TEST_F(CallStacksTest, BentStacksEndEarly) {
  const uintptr_t here = chain(direct(0))[0];
  Site *site = plain.find(here);
  // A made-up stack: the wrapper's frame, then words that mean nothing.
  for (const uintptr_t junk : {uintptr_t{0}, uintptr_t{8}, ~uintptr_t{0}, uintptr_t{0x7fff00000000}, here}) {
    std::vector<uintptr_t> words(64, junk);
    words[1] = here;
    const auto low = reinterpret_cast<uintptr_t>(words.data());
    const Site *found = stacks.find(site, low, {low, low + words.size() * sizeof(uintptr_t), low});
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->offset, site->offset);
    EXPECT_LE(chain(found).size(), 64U);
  }
}

TEST_F(CallStacksTest, ClosedObjectsAreForgotten) {
  Site *site = nullptr;
  for (int i = 0; i < 3; ++i) {
    Site *again = direct(3);
    EXPECT_TRUE(site == nullptr || site == again);
    site = again;
    ++epoch;
  }
}

TEST_F(CallStacksTest, WithoutMemoryTheSiteStands) {
  while (arena.allocate(4096) != nullptr) {
  }
  while (arena.allocate(64) != nullptr) {
  }
  Site *known = plain.find(reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
  Site *site = direct(2);
  EXPECT_TRUE(site == nullptr || site->caller == nullptr);
  EXPECT_TRUE(known == nullptr || known->caller == nullptr);
}

TEST_F(CallStacksTest, ThreadsHaveStacksOfTheirOwn) {
  size_t depth = 0;
  std::thread([&] {
    stack = ThreadStack::of_calling_thread(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
    depth = chain(direct(1)).size();
  }).join();
  EXPECT_GE(depth, 3U);
}

}  // namespace
}  // namespace cairn::recorder
