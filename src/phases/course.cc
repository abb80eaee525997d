#include "phases/course.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/decode.h"
#include "spec/spec.h"

namespace cairn::phases {
namespace {

using analyze::KindOfRank;
using analyze::Loop;
using analyze::LoopItem;

constexpr double kLeastPart = 0.01;

uint64_t calls_in(const LoopItem &item) {
  if (!item.is_loop()) return item.turns;
  uint64_t sum = 0;
  for (const LoopItem &inner : item.body) sum += calls_in(inner);
  return sum;
}

void count(const LoopItem &item, std::vector<uint64_t> *visits) {
  if (!item.is_loop()) (*visits)[item.symbol] += item.turns;
  for (const LoopItem &inner : item.body) count(inner, visits);
}

std::string turns_text(uint64_t least, uint64_t most) {
  return least == most ? std::to_string(most) : fmt::format("{} to {}", least, most);
}

std::string ordinal(uint64_t number) {
  const uint64_t last = number % 10;
  const bool teen = number / 10 % 10 == 1;
  return fmt::format("{}{}", number, teen || last > 3 || last == 0 ? "th" : last == 1 ? "st" : last == 2 ? "nd" : "rd");
}

class Parts {
 public:
  Parts(const KindOfRank &kind, size_t depth) : kind_(kind), depth_(depth) {
    for (const LoopItem &item : kind.items) all_ += calls_in(item);
  }

  std::vector<Part> run() {
    std::vector<const LoopItem *> between;
    for (const LoopItem &item : kind_.items) {
      if (item.most > 1 && static_cast<double>(calls_in(item)) >= kLeastPart * static_cast<double>(all_)) {
        add(between, parts_.empty() ? What::start : What::stretch);
        between.clear();
        add({&item}, What::loop);
      } else {
        between.push_back(&item);
      }
    }
    add(between, parts_.empty() ? What::start : What::end);
    return std::move(parts_);
  }

 private:
  void add(const std::vector<const LoopItem *> &items, What what) {
    if (items.empty()) return;
    Part part;
    part.what = what;
    part.begin = at_;
    part.visits.resize(kind_.places.size());
    Loop all;
    for (const LoopItem *item : items) {
      at_ += calls_in(*item);
      count(*item, &part.visits);
      all.body.push_back(shape_of(*item));
    }
    part.end = at_;
    for (uint32_t place = 0; place < part.visits.size(); ++place) {
      if (part.visits[place] == 0) continue;
      part.places.insert(place);
      const std::string &function = kind_.places[place].position.function;
      if (!function.empty()) part.functions.insert(function);
    }
    part.place = text_of(what == What::loop ? all.body[0] : all, kind_.places);
    if (what == What::loop) tell_turns(*items[0], &part);
    for (const LoopItem *item : items) {
      for (const LoopItem &inner : item->body) add_inner(inner, 2, &part);
    }
    parts_.push_back(std::move(part));
  }

  void tell_turns(const LoopItem &loop, Part *part) const {
    const LoopItem *turning = &loop;
    for (;;) {
      const LoopItem *inner = nullptr;
      for (const LoopItem &each : turning->body) {
        if (each.most > 1 && 2 * calls_in(each) > calls_in(*turning)) inner = &each;
      }
      if (inner == nullptr || !may_be_step(*inner, *turning)) break;
      part->note = note_of(*turning, *inner);
      turning = inner;
    }
    part->turn_count = turning->turns;
    part->turns = turning == &loop ? turns_text(loop.turns, loop.turns) : std::to_string(turning->turns);
    part->anchor = anchor_of(*turning, *part);
  }

  /// A step that sends to each of a few neighbours in a loop is a step for all that: a loop in it is the step itself
  /// only if it makes three quarters of the different calls, or is one collective operation again and again.
  [[nodiscard]] bool may_be_step(const LoopItem &inner, const LoopItem &outer) const {
    const size_t own = places_in(inner);
    const size_t all = places_in(outer);
    if (inner.is_loop()) return own * 4 >= all * 3;
    return spec::functions()[kind_.places[inner.symbol].function].collective && own * 2 >= all;
  }

  [[nodiscard]] size_t places_in(const LoopItem &item) const {
    std::vector<uint64_t> visits(kind_.places.size());
    count(item, &visits);
    return static_cast<size_t>(std::count_if(visits.begin(), visits.end(), [](uint64_t each) { return each != 0; }));
  }

  /// What stands beside the inner loop in a turn of the outer one.
  [[nodiscard]] std::string note_of(const LoopItem &outer, const LoopItem &inner) const {
    std::vector<std::string> others;
    for (const LoopItem &each : outer.body) {
      if (&each == &inner) continue;
      std::vector<uint64_t> visits(kind_.places.size());
      count(each, &visits);
      for (uint32_t place = 0; place < visits.size(); ++place) {
        if (visits[place] != 0) others.push_back(call_text(place));
      }
    }
    constexpr size_t kMost = 3;
    const size_t left = others.size() > kMost ? others.size() - kMost : 0;
    others.resize(others.size() - left);
    std::string text;
    for (const std::string &other : others) text += (text.empty() ? "" : ", ") + other;
    if (left != 0) text += fmt::format(" and calls at {} more {}", left, left == 1 ? "place" : "places");
    if (inner.least == inner.most) return fmt::format("each {} turn also makes {}", ordinal(inner.most), text);
    return fmt::format("after each {} turns it also makes {}", turns_text(inner.least, inner.most), text);
  }

  [[nodiscard]] std::string call_text(uint32_t place) const {
    const analyze::LoopPlace &at = kind_.places[place];
    return analyze::function_at(at.function, at.position.text().empty() ? "" : at.position.brief());
  }

  /// The first call that is made once in each turn, and nowhere else here.
  static std::optional<uint32_t> anchor_of(const LoopItem &turning, const Part &part) {
    if (!turning.is_loop()) {
      return part.visits[turning.symbol] == turning.turns ? std::optional(turning.symbol) : std::nullopt;
    }
    for (const LoopItem &item : turning.body) {
      if (!item.is_loop() && item.least == 1 && item.most == 1 && part.visits[item.symbol] == turning.turns) {
        return item.symbol;
      }
    }
    return std::nullopt;
  }

  void add_inner(const LoopItem &item, size_t depth, Part *part) const {
    if (depth > depth_ || item.most == 1) return;
    Inner inner;
    inner.depth = depth;
    inner.place = item.is_loop() ? text_of(shape_of(item), kind_.places) : call_text(item.symbol);
    inner.turns = turns_text(item.least, item.most);
    inner.times = static_cast<double>(item.times);
    std::vector<uint64_t> visits(kind_.places.size());
    count(item, &visits);
    for (size_t place = 0; place < visits.size(); ++place) {
      const auto all = static_cast<double>(std::max<uint64_t>(1, part->visits[place]));
      inner.of_visits.push_back(static_cast<double>(visits[place]) / all);
    }
    part->inner.push_back(std::move(inner));
    for (const LoopItem &each : item.body) add_inner(each, depth + 1, part);
  }

  const KindOfRank &kind_;
  size_t depth_;
  uint64_t all_ = 0;
  uint64_t at_ = 0;
  std::vector<Part> parts_;
};

}  // namespace

const char *name_of(What what) {
  constexpr const char *kNames[] = {"start", "loop", "stretch", "end"};
  return kNames[static_cast<size_t>(what)];
}

std::vector<Part> course_of(const KindOfRank &kind, size_t depth) { return Parts(kind, depth).run(); }

}  // namespace cairn::phases
