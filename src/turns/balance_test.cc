// Leaving turns out changes nothing of what meets: held against all of it, element by element.
#include "turns/balance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>

namespace cairn::turns {
namespace {

/// What one side counts: some, then turns of `turn`, then some.
struct Side {
  std::string before;
  std::string turn;
  uint64_t turns = 0;
  std::string after;

  [[nodiscard]] std::string all(uint64_t lost) const {
    std::string text = before;
    for (uint64_t i = 0; i < turns - lost; ++i) text += turn;
    return text + after;
  }
};

std::vector<Account> account_of(const std::vector<Side> &sides) {
  Account account;
  for (uint32_t i = 0; i < sides.size(); ++i) {
    account.sides.push_back({{i, sides[i].turn.size(), sides[i].before.size() + sides[i].turn.size()}});
  }
  return {account};
}
std::vector<uint64_t> turns_of(const std::vector<Side> &sides) {
  std::vector<uint64_t> turns;
  turns.reserve(sides.size());
  for (const Side &side : sides) turns.push_back(side.turns);
  return turns;
}

/// What meets, as a set of pairs, and what is left over.
std::set<std::pair<char, char>> met(const std::string &a, const std::string &b) {
  std::set<std::pair<char, char>> pairs;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    pairs.emplace(i < a.size() ? a[i] : '-', i < b.size() ? b[i] : '-');
  }
  return pairs;
}

TEST(Balance, LosesAsMuchOnAllSides) {
  EXPECT_EQ(turns_to_leave_out({100, 100}, {{{{{0, 1, 0}}, {{1, 1, 0}}}}}), (std::vector<uint64_t>{94, 94}));
  // A turn here is two there.
  EXPECT_EQ(turns_to_leave_out({50, 100}, {{{{{0, 2, 0}}, {{1, 1, 0}}}}}), (std::vector<uint64_t>{44, 88}));
  // One has fewer turns, as its first one went another way.
  EXPECT_EQ(turns_to_leave_out({99, 100}, {{{{{0, 1, 2}}, {{1, 1, 1}}}}}), (std::vector<uint64_t>{93, 93}));
  // Nothing to do with others.
  EXPECT_EQ(turns_to_leave_out({1000}, {}), (std::vector<uint64_t>{994}));
}

TEST(Balance, LeavesWholeWhatDoesNotMeet) {
  const std::vector<uint64_t> none{0, 0};
  EXPECT_EQ(turns_to_leave_out({100, 100}, {{{{{0, 1, 0}}, {}}}, {{{{0, 1, 0}}, {{1, 1, 0}}}}}), none);
  EXPECT_EQ(turns_to_leave_out({100, 6}, {{{{{0, 1, 0}}, {{1, 1, 0}}}}}), none);
  // Two accounts that contradict each other.
  EXPECT_EQ(turns_to_leave_out({100, 100}, {{{{{0, 1, 0}}, {{1, 1, 0}}}}, {{{{0, 2, 0}}, {{1, 1, 0}}}}}), none);
  // Too far from each other.
  EXPECT_EQ(turns_to_leave_out({100, 100}, {{{{{0, 1, 50}}, {{1, 1, 0}}}}}), none);
  EXPECT_EQ(turns_to_leave_out({100, 100}, {{{{{0, 2, 0}}, {{1, 3, 0}}}}}), none);
}

TEST(Balance, PairsLoopsInTheirOrder) {
  const Account account{{{{0, 1, 0}, {1, 2, 500}}, {{2, 1, 0}, {3, 2, 500}}}};
  EXPECT_EQ(turns_to_leave_out({500, 40, 500, 40}, {account}), (std::vector<uint64_t>{494, 34, 494, 34}));
}

TEST(Balance, WhatMeetsIsTheSame) {
  std::mt19937 random(1);
  const auto text = [&](size_t least, size_t most) {
    std::string some;
    for (size_t i = least + random() % (most - least + 1); i > 0; --i) some += static_cast<char>('a' + random() % 26);
    return some;
  };
  size_t cut = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<Side> sides(2);
    for (Side &side : sides) side = {text(0, 4), text(1, 4), 5 + random() % 40, text(0, 3)};
    if (random() % 2 == 0) sides[1].turn = text(sides[0].turn.size(), sides[0].turn.size());
    if (random() % 2 == 0) sides[1].turns = sides[0].turns + random() % 3;
    const std::vector<uint64_t> lost = turns_to_leave_out(turns_of(sides), account_of(sides));
    if (lost[0] == 0) continue;
    ++cut;
    const auto whole = met(sides[0].all(0), sides[1].all(0));
    const auto rest = met(sides[0].all(lost[0]), sides[1].all(lost[1]));
    ASSERT_EQ(whole, rest) << sides[0].before << " (" << sides[0].turn << ")*" << sides[0].turns << " "
                           << sides[0].after << " / " << sides[1].before << " (" << sides[1].turn << ")*"
                           << sides[1].turns << " " << sides[1].after << ", " << lost[0] << " and " << lost[1];
  }
  EXPECT_GT(cut, 5000U);
}

}  // namespace
}  // namespace cairn::turns
