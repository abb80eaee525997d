#include "check/deadlock.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn::check {
namespace {

using Needs = std::vector<std::vector<uint32_t>>;

Waiter waits(uint32_t rank, Needs needs, bool any = false, uint32_t thread = 0) {
  Waiter waiter;
  waiter.rank = rank;
  waiter.thread = thread;
  waiter.needs = std::move(needs);
  waiter.any = any;
  return waiter;
}

Waiter ended(uint32_t rank) {
  Waiter waiter = waits(rank, {});
  waiter.ended = true;
  return waiter;
}

/// The ranks of each chain; `threads` of each of `ranks`.
std::vector<std::vector<uint32_t>> chains(const std::vector<Waiter> &waiters, uint32_t ranks, size_t threads = 1) {
  std::map<uint32_t, size_t> all;
  for (uint32_t rank = 0; rank < ranks; ++rank) all[rank] = threads;
  std::vector<std::vector<uint32_t>> found;
  for (const Deadlock &deadlock : find_deadlocks(waiters, all)) {
    found.emplace_back();
    for (const size_t each : deadlock.chain) found.back().push_back(waiters[each].rank);
  }
  return found;
}

using Chains = std::vector<std::vector<uint32_t>>;

TEST(Deadlock, IsACycle) {
  EXPECT_EQ(chains({waits(0, {{1}}), waits(1, {{2}}), waits(2, {{0}})}, 3), (Chains{{0, 1, 2}}));
  EXPECT_EQ(chains({waits(0, {{1}}), waits(1, {{2}}), waits(2, {{1}})}, 3), (Chains{{1, 2}}));
  EXPECT_EQ(chains({waits(0, {{0}})}, 1), (Chains{{0}}));
  EXPECT_EQ(chains({waits(0, {{1}}), waits(1, {{0}}), waits(2, {{3}}), waits(3, {{2}})}, 4), (Chains{{0, 1}, {2, 3}}));
}

TEST(Deadlock, IsNoneWhileSomebodyMoves) {
  EXPECT_EQ(chains({waits(0, {{1}}), waits(1, {{2}})}, 3), Chains());
  EXPECT_EQ(chains({waits(0, {{7}})}, 1), Chains());  // whom the trace does not have
}

TEST(Deadlock, IsOfAllOrOfOneThatIsNeeded) {
  // Rank 0 needs both 1 and 2; only 2 moves.
  EXPECT_EQ(chains({waits(0, {{1}, {2}}), waits(1, {{0}})}, 3), (Chains{{0, 1}}));
  EXPECT_EQ(chains({waits(0, {{1}, {2}}, true), waits(1, {{0}})}, 3), Chains());
  // A receive from anybody.
  EXPECT_EQ(chains({waits(0, {{0, 1, 2}}), waits(1, {{0}})}, 3), Chains());
  EXPECT_EQ(chains({waits(0, {{0, 1, 2}}), waits(1, {{0}}), waits(2, {{1}})}, 3), (Chains{{0, 1}}));
}

TEST(Deadlock, IsAWaitForWhoHasEnded) {
  EXPECT_EQ(chains({waits(0, {{2}}), waits(1, {{2}}), ended(2)}, 3), (Chains{{0, 2}, {1, 2}}));
  EXPECT_EQ(chains({waits(0, {{1}}), waits(1, {{2}}), ended(2)}, 3), (Chains{{0, 1, 2}}));
  EXPECT_EQ(chains({ended(0), ended(1)}, 2), Chains());
}

TEST(Deadlock, IsOfAllThreads) {
  EXPECT_EQ(chains({waits(0, {{1}}), waits(1, {{0}})}, 2, 2), Chains());
  EXPECT_EQ(chains({waits(0, {{1}}), waits(0, {{1}}, false, 1), waits(1, {{0}}), waits(1, {{0}}, false, 1)}, 2, 2),
            (Chains{{0, 1}}));
}

/// "chain: others" of each.
std::vector<std::string> told(const std::vector<Waiter> &waiters, uint32_t ranks) {
  std::map<uint32_t, size_t> all;
  for (uint32_t rank = 0; rank < ranks; ++rank) all[rank] = 1;
  std::vector<std::string> found;
  for (const Deadlock &deadlock : find_deadlocks(waiters, all)) {
    std::string text;
    for (const size_t each : deadlock.chain) text += std::to_string(waiters[each].rank);
    text += ":";
    for (const uint32_t rank : deadlock.others) text += std::to_string(rank);
    found.push_back(text);
  }
  return found;
}

TEST(Deadlock, KnowsWhoWaitsForIt) {
  // 4 waits for 3, which waits for the cycle; 0 leads into it, too.
  EXPECT_EQ(told({waits(0, {{2}}), waits(1, {{2}}), waits(2, {{1}}), waits(3, {{1}}), waits(4, {{3}})}, 5),
            (std::vector<std::string>{"12:034"}));
  EXPECT_EQ(told({waits(0, {{1}}), waits(1, {{0}}), waits(2, {{3}}), waits(3, {{2}}), waits(4, {{2}})}, 5),
            (std::vector<std::string>{"01:", "23:4"}));
}

}  // namespace
}  // namespace cairn::check
