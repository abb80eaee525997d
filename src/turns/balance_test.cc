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

/// Some, then turns of `turn`.
struct Stretch {
  std::string before;
  std::string turn;
  uint64_t turns = 0;
  bool known = true;  ///< as a loop
};
/// What one side counts.
struct Side {
  std::vector<Stretch> stretches;
  std::string after;

  /// `lost`: turns of its loops, from that one of all sides' on.
  [[nodiscard]] std::string all(const std::vector<uint64_t> &lost = {}, size_t loop = 0) const {
    std::string text;
    for (const Stretch &each : stretches) {
      const uint64_t gone = each.known && !lost.empty() ? lost[loop++] : 0;
      text += each.before;
      for (uint64_t i = 0; i < each.turns - gone; ++i) text += each.turn;
    }
    return text + after;
  }
  [[nodiscard]] size_t loops() const {
    return static_cast<size_t>(
        std::count_if(stretches.begin(), stretches.end(), [](const Stretch &each) { return each.known; }));
  }
};

Account account_of(const std::vector<Side> &sides, std::vector<uint64_t> *turns) {
  Account account;
  for (const Side &side : sides) {
    auto &uses = account.sides.emplace_back();
    uint64_t counted = 0;
    for (const Stretch &each : side.stretches) {
      counted += each.before.size();
      if (each.known) {
        uses.push_back({static_cast<uint32_t>(turns->size()), each.turn.size(), counted + each.turn.size()});
        turns->push_back(each.turns);
      }
      counted += each.turn.size() * each.turns;
    }
  }
  return account;
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

TEST(Balance, LeavesWholeWhatIsALoopOnOneSideOnly) {
  const Account account{{{{0, 1, 2}, {1, 2, 500}}, {{2, 2, 500}}}};
  EXPECT_EQ(turns_to_leave_out({90, 40, 40}, {account}), (std::vector<uint64_t>{0, 34, 34}));
  const Account behind{{{{0, 2, 500}}, {{1, 2, 500}, {2, 1, 900}}}};
  EXPECT_EQ(turns_to_leave_out({40, 40, 90}, {behind}), (std::vector<uint64_t>{34, 34, 0}));
}

/// One or two loops a side; where there are two, the first may be no loop on one of them.
TEST(Balance, WhatMeetsIsTheSame) {
  std::mt19937 random(1);
  const auto text = [&](size_t least, size_t most) {
    std::string some;
    for (size_t i = least + random() % (most - least + 1); i > 0; --i) some += static_cast<char>('a' + random() % 26);
    return some;
  };
  size_t cut = 0;
  size_t apart = 0;  // of them, where sides have different numbers of loops
  for (int i = 0; i < 40000; ++i) {
    std::vector<Side> sides(2);
    const size_t stretches = 1 + static_cast<size_t>(i % 2);
    for (size_t k = 0; k < stretches; ++k) {
      std::vector<Stretch> both(2);
      for (Stretch &each : both) each = {text(0, 4), text(1, 4), 5 + random() % 40};
      if (random() % 2 == 0) both[1].turn = text(both[0].turn.size(), both[0].turn.size());
      if (random() % 2 == 0) both[1].turns = both[0].turns + random() % 3;
      if (k + 1 < stretches && random() % 2 == 0) both[random() % 2].known = false;
      for (size_t side = 0; side < 2; ++side) sides[side].stretches.push_back(both[side]);
    }
    for (Side &side : sides) side.after = text(0, 3);
    std::vector<uint64_t> turns;
    const Account account = account_of(sides, &turns);
    const std::vector<uint64_t> lost = turns_to_leave_out(turns, {account});
    if (std::all_of(lost.begin(), lost.end(), [](uint64_t each) { return each == 0; })) continue;
    ++cut;
    if (sides[0].loops() != sides[1].loops()) ++apart;
    const auto whole = met(sides[0].all(), sides[1].all());
    const auto rest = met(sides[0].all(lost), sides[1].all(lost, sides[0].loops()));
    ASSERT_EQ(whole, rest) << sides[0].all() << " / " << sides[1].all() << " / " << sides[0].all(lost);
  }
  EXPECT_GT(cut, 8000U);
  EXPECT_GT(apart, 1000U);
}

}  // namespace
}  // namespace cairn::turns
