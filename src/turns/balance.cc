#include "turns/balance.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>

namespace cairn::turns {
namespace {

/// Two loops: `own` times the turns that this one loses are `others` times those of `other`.
struct Tie {
  uint32_t other = 0;
  uint64_t own = 1;
  uint64_t others = 1;
};

/// Numbers beyond are no loops that hang together.
constexpr uint64_t kMost = uint64_t{1} << 31;

struct Ratio {
  uint64_t over = 1;
  uint64_t under = 1;
  bool operator==(const Ratio &) const = default;
};
std::optional<Ratio> times(const Ratio &ratio, uint64_t over, uint64_t under) {
  if (std::max(over, under) >= kMost) return std::nullopt;
  const uint64_t a = std::gcd(ratio.over, under);
  const uint64_t b = std::gcd(over, ratio.under);
  Ratio product{ratio.over / a * (over / b), ratio.under / b * (under / a)};
  const uint64_t common = std::gcd(product.over, product.under);
  product = {product.over / common, product.under / common};
  return std::max(product.over, product.under) < kMost ? std::optional(product) : std::nullopt;
}

class Loops {
 public:
  explicit Loops(const std::vector<uint64_t> &turns)
      : turns_(turns), ties_(turns.size()), tails_(turns.size(), kLeastTail), whole_(turns.size()) {}

  void add(const Account &account) {
    std::vector<size_t> next(account.sides.size());  // of each side, the loop that is looked at
    std::vector<Use> together;
    while (true) {
      together.clear();
      for (size_t side = 0; side < next.size() && next[side] < account.sides[side].size(); ++side) {
        together.push_back(account.sides[side][next[side]]);
      }
      if (together.size() < next.size()) break;
      if (pass_those_before(together, &next)) continue;
      const bool near = are_near(together);
      for (const Use &use : together) {
        if (!near) whole_[use.loop] = true;
        ties_[together[0].loop].push_back({use.loop, together[0].each_turn, use.each_turn});
        ties_[use.loop].push_back({together[0].loop, use.each_turn, together[0].each_turn});
      }
      for (size_t &each : next) ++each;
    }
    for (size_t side = 0; side < next.size(); ++side) {
      for (; next[side] < account.sides[side].size(); ++next[side]) whole_[account.sides[side][next[side]].loop] = true;
    }
  }

  std::vector<uint64_t> solve() const {
    std::vector<uint64_t> lost(turns_.size());
    std::vector<std::optional<Ratio>> ratios(turns_.size());
    for (uint32_t first = 0; first < turns_.size(); ++first) {
      if (ratios[first]) continue;
      std::vector<uint32_t> component{first};
      ratios[first] = Ratio{};
      bool whole = false;
      for (size_t i = 0; i < component.size(); ++i) {
        const uint32_t loop = component[i];
        whole = whole || whole_[loop] || turns_[loop] <= kLead + tails_[loop];
        for (const Tie &tie : ties_[loop]) {
          const std::optional<Ratio> other = times(*ratios[loop], tie.own, tie.others);
          whole = whole || !other || (ratios[tie.other] && *ratios[tie.other] != *other);
          if (ratios[tie.other]) continue;
          ratios[tie.other] = other.value_or(Ratio{});
          component.push_back(tie.other);
        }
      }
      if (!whole) lose(component, ratios, &lost);
    }
    return lost;
  }

 private:
  /// How far a loop counted behind its first turns.
  static uint64_t lead_of(const Use &use) {
    assert(use.each_turn != 0);
    return use.second + (kLead - 1) * std::min(use.each_turn, kMost);
  }
  /// Loops that lie far before the last of them have nothing of their own on its side: these stay whole. Whether there
  /// were any.
  bool pass_those_before(const std::vector<Use> &together, std::vector<size_t> *next) {
    uint64_t last = 0;
    for (const Use &use : together) last = std::max(last, lead_of(use));
    bool any = false;
    for (size_t side = 0; side < together.size(); ++side) {
      if ((last - lead_of(together[side])) / together[side].each_turn <= kMostTail) continue;
      whole_[together[side].loop] = true;
      ++(*next)[side];
      any = true;
    }
    return any;
  }
  bool are_near(const std::vector<Use> &together) {
    uint64_t first = UINT64_MAX;  // of all P
    uint64_t last = 0;
    uint64_t longest = 0;
    uint64_t second_turn = 0;
    for (const Use &use : together) {
      if (use.each_turn >= kMost) return false;
      const uint64_t behind = lead_of(use);
      first = std::min(first, behind);
      last = std::max(last, behind);
      longest = std::max(longest, use.each_turn);
      second_turn = std::max(second_turn, use.second);
    }
    if (first < second_turn + longest) return false;
    return std::all_of(together.begin(), together.end(), [&](const Use &use) {
      const uint64_t tail = (last - first + use.each_turn - 1) / use.each_turn;
      tails_[use.loop] = std::max(tails_[use.loop], tail);
      return tail <= kMostTail && longest % use.each_turn == 0;
    });
  }

  void lose(const std::vector<uint32_t> &component, const std::vector<std::optional<Ratio>> &ratios,
            std::vector<uint64_t> *lost) const {
    uint64_t under = 1;
    for (const uint32_t loop : component) {
      under = std::lcm(under, ratios[loop]->under);
      if (under >= kMost) return;
    }
    uint64_t all = UINT64_MAX;
    for (const uint32_t loop : component) {
      all = std::min(all, (turns_[loop] - kLead - tails_[loop]) / (ratios[loop]->over * (under / ratios[loop]->under)));
    }
    for (const uint32_t loop : component) {
      (*lost)[loop] = all * ratios[loop]->over * (under / ratios[loop]->under);
    }
  }

  const std::vector<uint64_t> &turns_;
  std::vector<std::vector<Tie>> ties_;
  std::vector<uint64_t> tails_;  ///< turns that must stay at the end
  std::vector<bool> whole_;      ///< loses none
};

}  // namespace

std::vector<uint64_t> turns_to_leave_out(const std::vector<uint64_t> &turns, const std::vector<Account> &accounts) {
  Loops loops(turns);
  for (const Account &account : accounts) loops.add(account);
  return loops.solve();
}

}  // namespace cairn::turns
