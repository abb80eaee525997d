#include "ranks/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyze/alignment.h"
#include "analyze/decode.h"

namespace cairn::ranks {
namespace {

using analyze::KindOfRank;
using analyze::LoopItem;
using Items = std::vector<LoopItem>;

void add_places(const LoopItem &item, std::set<uint32_t> *places) {
  if (!item.is_loop()) places->insert(item.symbol);
  for (const LoopItem &inner : item.body) add_places(inner, places);
}

/// "12", "3 to 4", "2.5": how often in the mean, where that is one number.
std::string turns_text(const LoopItem &item) {
  return item.least == item.most ? std::to_string(item.most) : fmt::format("{} to {}", item.least, item.most);
}
std::string number_text(double number) {
  if (std::abs(number - std::round(number)) < 1e-9) return fmt::format("{:.0f}", number);
  return fmt::format("{:.3g}", number);
}

/// Call by call: what turns more often at one time than at another may do so at other times.
bool are_equal(const Items &one, const Items &other) {
  const auto numbers = [](const LoopItem &item) {
    return std::tuple(item.is_loop(), item.is_loop() ? 0 : item.symbol, item.turns, item.least, item.most);
  };
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), [&](const LoopItem &a, const LoopItem &b) {
    return a.least == a.most && numbers(a) == numbers(b) && are_equal(a.body, b.body);
  });
}

class Comparison {
 public:
  Comparison(const KindOfRank &one, const KindOfRank &other, std::string other_name)
      : one_(one), other_(other), other_name_(std::move(other_name)) {}

  std::vector<std::string> run() {
    compare(one_.items, other_.items, {});
    if (lines_.empty()) {
      const bool equal = are_equal(one_.items, other_.items);
      tell(0, equal ? fmt::format("makes the calls of {} in the same order, and the last of them ended otherwise",
                                  other_name_)
                    : fmt::format("makes the calls of {}, in another order", other_name_));
    }
    std::stable_sort(lines_.begin(), lines_.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
    std::vector<std::string> texts;
    texts.reserve(lines_.size());
    for (auto &[calls, text] : lines_) texts.push_back(std::move(text));
    return texts;
  }

 private:
  /// The loop that both lists are the bodies of: how often it turns in all, on each.
  struct Around {
    const LoopItem *one = nullptr;
    const LoopItem *other = nullptr;
  };
  /// Of items without a counterpart: how often a place is come to, on each.
  struct Alone {
    uint64_t one = 0;
    uint64_t other = 0;
  };

  void tell(uint64_t calls, std::string text) { lines_.emplace_back(calls, std::move(text)); }

  /// How much it is worth that the two stand beside each other; 0: they must not.
  double likeness(const LoopItem &a, const LoopItem &b) {
    if (!a.is_loop() && !b.is_loop()) return a.symbol == b.symbol ? 1 + (a.turns == b.turns ? 0.1 : 0) : 0;
    // A call that is made some times in a row may be what is left of a loop, one that is made once is none.
    if (a.most == 1 || b.most == 1) return 0;
    const double part = analyze::common_share(places_of(a), places_of(b));
    constexpr double kLeastPart = 0.3;
    return part < kLeastPart ? 0
                             : 2 * part + (a.turns == b.turns ? 0.1 : 0) + (a.body.size() == b.body.size() ? 0.1 : 0);
  }
  /// What one turn consists of, also of a call that is made some times in a row.
  const Items &body_of(const LoopItem &item) {
    if (item.is_loop()) return item.body;
    LoopItem once = item;
    once.times = item.turns;
    once.least = once.most = once.last = 1;
    return made_.emplace_back(Items{once});
  }
  const std::set<uint32_t> &places_of(const LoopItem &item) {
    const auto [known, fresh] = places_.try_emplace(&item);
    if (fresh) add_places(item, &known->second);
    return known->second;
  }

  void compare(const Items &own, const Items &others, const Around &around) {
    std::map<uint32_t, Alone> alone;
    std::vector<std::pair<const LoopItem *, const LoopItem *>> beside;
    if (uint64_t{own.size()} * others.size() > kMostPairs) {
      for (const LoopItem &item : own) count(item, &Alone::one, &alone);
      for (const LoopItem &item : others) count(item, &Alone::other, &alone);
    } else {
      align(own, others, &beside, &alone);
    }
    for (const auto &[a, b] : beside) {
      told_turns(*a, *b);
      if (a->is_loop() || b->is_loop()) compare(body_of(*a), body_of(*b), {a, b});
    }
    for (const auto &[place, counts] : alone) tell_alone(place, counts, around);
  }

  void align(const Items &own, const Items &others, std::vector<std::pair<const LoopItem *, const LoopItem *>> *beside,
             std::map<uint32_t, Alone> *alone) {
    const auto pairs = analyze::aligned<float>(own.size(), others.size(),
                                               [&](size_t i, size_t k) { return likeness(own[i], others[k]); });
    size_t i = 0;
    size_t k = 0;
    const auto alone_until = [&](size_t one, size_t other) {
      for (; i < one; ++i) count(own[i], &Alone::one, alone);
      for (; k < other; ++k) count(others[k], &Alone::other, alone);
    };
    for (const auto &[one, other] : pairs) {
      alone_until(one, other);
      beside->emplace_back(&own[i++], &others[k++]);
    }
    alone_until(own.size(), others.size());
  }

  static void count(const LoopItem &item, uint64_t Alone::*side, std::map<uint32_t, Alone> *alone) {
    if (!item.is_loop()) (*alone)[item.symbol].*side += item.turns;
    for (const LoopItem &inner : item.body) count(inner, side, alone);
  }

  void told_turns(const LoopItem &a, const LoopItem &b) {
    // In the mean of the times that it is come to: a loop within one that turns more often is no other loop.
    const auto mean = [](const LoopItem &item) {
      return static_cast<double>(item.turns) / static_cast<double>(std::max<uint64_t>(1, item.times));
    };
    if (a.least == b.least && a.most == b.most && std::abs(mean(a) - mean(b)) < 1e-9) return;
    const bool ranges = a.least != b.least || a.most != b.most;
    const std::string own = ranges ? turns_text(a) : number_text(mean(a));
    const std::string others = ranges ? turns_text(b) : number_text(mean(b));
    const uint64_t calls = a.turns > b.turns ? a.turns - b.turns : b.turns - a.turns;
    const std::string where = text_of(shape_of(a.is_loop() ? a : b), one_.places);
    if (a.is_loop() || b.is_loop()) {
      tell(calls,
           fmt::format("loop{}{} turns {} times instead of {}", where.empty() ? "" : " at ", where, own, others));
    } else {
      tell(calls,
           fmt::format("makes {} {} in a row{} instead of {}", own, name_of(a.symbol), place_of(a.symbol), others));
    }
  }

  void tell_alone(uint32_t place, const Alone &counts, const Around &around) {
    const auto a_turn = [](uint64_t turns, const LoopItem *loop) {
      return static_cast<double>(turns) / static_cast<double>(loop == nullptr ? 1 : loop->turns);
    };
    const double own = a_turn(counts.one, around.one);
    const double others = a_turn(counts.other, around.other);
    const uint64_t calls = std::max(counts.one, counts.other);
    const std::string turn = around.one == nullptr ? "" : " a turn";
    const std::string what = name_of(place) + turn + place_of(place);
    if (std::abs(own - others) < 1e-9) {
      tell(0, fmt::format("makes {} at another place in the order than {}", name_of(place) + place_of(place),
                          other_name_));
    } else if (own > others && others == 0) {
      tell(calls, fmt::format("makes {} {} that {} does not", number_text(own), what, other_name_));
    } else if (own == 0) {
      tell(calls, fmt::format("does not make the {} {} that {} makes", number_text(others), what, other_name_));
    } else {
      tell(calls, fmt::format("makes {} {} {} than {}", number_text(std::abs(own - others)),
                              own > others ? "more" : "fewer", what, other_name_));
    }
  }

  [[nodiscard]] std::string name_of(uint32_t place) const {
    return analyze::function_name(one_.places[place].function);
  }
  /// " at halo.c:41"; "" where that is not known.
  [[nodiscard]] std::string place_of(uint32_t place) const {
    const analyze::LoopPlace &at = one_.places[place];
    std::string text = at.position.text().empty() ? "" : " at " + at.position.brief();
    if (!at.callers.empty()) text += " from " + at.callers.front().brief();
    return text;
  }

  const KindOfRank &one_;
  const KindOfRank &other_;
  std::string other_name_;
  std::map<const LoopItem *, std::set<uint32_t>> places_;
  std::deque<Items> made_;                               ///< bodies that were made here
  std::vector<std::pair<uint64_t, std::string>> lines_;  ///< with how many calls each is about
};

}  // namespace

double distance(const KindOfRank &one, const KindOfRank &other) {
  assert(one.places.size() == other.places.size());
  double apart = 0;
  double all = 0;
  for (size_t i = 0; i < one.places.size(); ++i) {
    const double own = std::sqrt(static_cast<double>(one.places[i].visits));
    const double others = std::sqrt(static_cast<double>(other.places[i].visits));
    apart += std::abs(own - others);
    all += own + others;
  }
  return all == 0 ? 0 : apart / all;
}

std::vector<std::string> differences(const KindOfRank &one, const KindOfRank &other, const std::string &other_name) {
  assert(one.places.size() == other.places.size());
  return Comparison(one, other, other_name).run();
}

}  // namespace cairn::ranks
