#include "waits/locks.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace cairn::waits {
namespace {

using analyze::CallTime;
using analyze::LockCall;

constexpr bool kExclusive = true;
constexpr bool kShared = false;

class LocksTest : public testing::Test {
 protected:
  struct Of {
    std::optional<uint32_t> target = 7;
    uint32_t window = 1;
  };
  void call(uint32_t rank, uint64_t begin_ns, uint64_t end_ns, bool exclusive, bool gives_back, Of of) {
    LockCall made;
    made.call.rank = rank;
    made.call.begin_ns = begin_ns;
    made.call.end_ns = end_ns;
    made.window = of.window;
    made.target = of.target;
    made.exclusive = exclusive;
    made.gives_back = gives_back;
    locks_.add(made);
  }
  void lock(uint32_t rank, uint64_t begin_ns, uint64_t end_ns, bool exclusive) {
    call(rank, begin_ns, end_ns, exclusive, false, {});
  }
  void unlock(uint32_t rank, uint64_t begin_ns, uint64_t end_ns, bool exclusive) {
    call(rank, begin_ns, end_ns, exclusive, true, {});
  }
  /// Who waited, and until when.
  std::vector<std::pair<uint32_t, uint64_t>> settle(uint64_t ns) {
    std::vector<std::pair<uint32_t, uint64_t>> found;
    locks_.settle(ns, [&](const CallTime &call, const CallTime &culprit) {
      EXPECT_NE(call.rank, culprit.rank);
      found.emplace_back(call.rank, culprit.begin_ns);
    });
    return found;
  }
  using Found = std::vector<std::pair<uint32_t, uint64_t>>;
  Locks locks_;
};

TEST_F(LocksTest, WaitForTheLastThatExcludesThem) {
  lock(1, 10, 90, kExclusive);
  unlock(2, 20, 30, kExclusive);
  unlock(3, 50, 99, kShared);
  unlock(4, 95, 99, kExclusive);  // behind it
  unlock(5, 9, 20, kExclusive);   // before it
  EXPECT_EQ(settle(1000), (Found{{1, 50}}));
}

TEST_F(LocksTest, ThatAreSharedDoNotExcludeEachOther) {
  lock(1, 10, 90, kShared);
  unlock(2, 20, 30, kExclusive);
  unlock(3, 25, 50, kShared);
  EXPECT_EQ(settle(1000), (Found{{1, 20}}));
}

TEST_F(LocksTest, OfOtherProcessesAndWindowsAreApart) {
  lock(1, 10, 90, kExclusive);
  call(2, 20, 30, kExclusive, true, {8, 1});
  call(3, 20, 30, kExclusive, true, {7, 2});
  unlock(1, 20, 30, kExclusive);  // by another thread of it
  EXPECT_EQ(settle(1000), Found{});
}

TEST_F(LocksTest, OfAllProcessesExcludeThoseOfEach) {
  lock(1, 10, 90, kExclusive);
  call(2, 20, 30, kShared, true, {std::nullopt, 1});
  call(3, 15, 60, kShared, false, {std::nullopt, 1});
  call(4, 40, 45, kExclusive, true, {8, 1});
  EXPECT_EQ(settle(1000), (Found{{1, 20}, {3, 40}}));
}

TEST_F(LocksTest, AreSettledOnceWhatBeganInThemIsKnown) {
  lock(1, 10, 90, kExclusive);
  unlock(2, 20, 30, kExclusive);
  EXPECT_EQ(settle(50), Found{});
  EXPECT_EQ(locks_.earliest(), 10U);
  unlock(3, 60, 80, kExclusive);
  EXPECT_EQ(settle(90), (Found{{1, 60}}));
  EXPECT_EQ(locks_.earliest(), UINT64_MAX);
  EXPECT_EQ(settle(1000), Found{});
}

}  // namespace
}  // namespace cairn::waits
