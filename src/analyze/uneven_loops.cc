#include "analyze/uneven_loops.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace cairn::analyze {
namespace {

using grammar::Symbol;
using Calls = std::span<const Symbol>;
using Items = std::vector<LoopItem>;

constexpr size_t kLeastTurns = 4;
constexpr size_t kLeastShare = 4;  ///< a loop has the fourth part of the calls

/// Where turns begin, and where the last one ends.
struct Turns {
  std::vector<size_t> begins;
  size_t end = 0;
};

/// What turns do at one place.
struct Use {
  uint64_t all = 0;
  uint64_t turns = 0;  ///< which come to it
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  uint64_t most_often = 0;  ///< at most so often in one turn, whatever stands in a row
  double first = 0;         ///< when they first do, from 0 to 1 of the turn, added up
};

/// Calls of one place in a row are one thing.
bool begins_row(Calls calls, size_t at) { return at == 0 || calls[at - 1] != calls[at]; }

/// `last`: the last turn as well, whose end must be known.
std::map<Symbol, Use> uses_of(Calls calls, const Turns &turns, bool last) {
  std::map<Symbol, Use> uses;
  struct Here {
    uint64_t calls = 0;
    uint64_t rows = 0;
  };
  std::map<Symbol, Here> here;
  const size_t count = turns.begins.size() - (last ? 0 : 1);
  for (size_t turn = 0; turn < count; ++turn) {
    const size_t begin = turns.begins[turn];
    const size_t end = turn + 1 < turns.begins.size() ? turns.begins[turn + 1] : turns.end;
    here.clear();
    for (size_t i = begin; i < end; ++i) {
      Here &at = here[calls[i]];
      at.rows += i == begin || begins_row(calls, i) ? 1 : 0;
      if (at.calls++ == 0) {
        uses[calls[i]].first += static_cast<double>(i - begin) / static_cast<double>(end - begin);
      }
    }
    for (const auto &[place, times] : here) {
      Use &use = uses[place];
      use.all += times.calls;
      ++use.turns;
      use.least = std::min(use.least, times.calls);
      use.most = std::max(use.most, times.calls);
      use.most_often = std::max(use.most_often, times.rows);
    }
  }
  for (auto &[place, use] : uses) {
    if (use.turns < count) use.least = 0;
  }
  return uses;
}

/// How much of what turns do, but for their beginning, most of them do: from 0 to 1.
double likeness(Calls calls, const Turns &turns, Symbol beginning) {
  const auto count = static_cast<double>(turns.begins.size() - 1);
  double all = 0;
  double alike = 0;
  for (const auto &[place, use] : uses_of(calls, turns, false)) {
    if (place == beginning) continue;
    all += static_cast<double>(use.all);
    alike += static_cast<double>(use.all) * static_cast<double>(use.turns) / count;
  }
  return all == 0 ? 0 : alike / all;
}

Turns beginning_with(Calls calls, Symbol place) {
  Turns turns;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i] == place && begins_row(calls, i)) turns.begins.push_back(i);
  }
  return turns;
}

/// The turns of the innermost loop of which that can be said.
std::optional<Turns> find_turns(Calls calls, const ShowsTurns &shows) {
  struct Place {
    uint64_t times = 0;
    size_t first = 0;
    size_t last = 0;
  };
  std::map<Symbol, Place> places;
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto [place, fresh] = places.try_emplace(calls[i]);
    if (fresh) place->second.first = i;
    place->second.last = i;
    place->second.times += begins_row(calls, i) ? 1 : 0;
  }
  std::vector<std::pair<uint64_t, Symbol>> candidates;
  for (const auto &[symbol, place] : places) {
    if (place.times >= kLeastTurns && (place.last - place.first) * kLeastShare >= calls.size() && shows(symbol)) {
      candidates.emplace_back(place.times, symbol);
    }
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const auto &a, const auto &b) { return std::pair(b.first, a.second) < std::pair(a.first, b.second); });
  constexpr size_t kMostCandidates = 32;
  if (candidates.size() > kMostCandidates) candidates.resize(kMostCandidates);
  constexpr double kLeast = 0.6;
  constexpr double kNear = 0.1;
  std::vector<double> found;
  found.reserve(candidates.size());
  for (const auto &[times, symbol] : candidates) {
    found.push_back(likeness(calls, beginning_with(calls, symbol), symbol));
  }
  const double best = found.empty() ? 0 : *std::max_element(found.begin(), found.end());
  if (best < kLeast) return std::nullopt;
  // The first one is made most often.
  const auto near = std::find_if(found.begin(), found.end(), [&](double each) { return each >= best - kNear; });
  return beginning_with(calls, candidates[static_cast<size_t>(near - found.begin())].second);
}

/// Of the calls that each turn makes once, and nothing else makes, the first one is what turns begin with.
void begin_with_first(Calls calls, Turns *turns) {
  std::map<Symbol, uint64_t> all;
  for (size_t i = 0; i < calls.size(); ++i) all[calls[i]] += begins_row(calls, i) ? 1 : 0;
  const uint64_t count = turns->begins.size();
  Symbol best = calls[turns->begins.front()];
  size_t first = turns->begins.front();
  for (const auto &[place, use] : uses_of(calls, *turns, false)) {
    if (all[place] != count || use.least == 0 || use.most_often != 1) continue;
    const auto found = static_cast<size_t>(std::find(calls.begin(), calls.end(), place) - calls.begin());
    if (found < first) std::tie(first, best) = std::pair(found, place);
  }
  *turns = beginning_with(calls, best);
}

/// Calls of one place that stand in front of each turn are its beginning, again and again.
void begin_earlier(Calls calls, Turns *turns) {
  const Symbol anchor = calls[turns->begins.front()];
  for (;;) {
    if (turns->begins.front() == 0) return;
    const Symbol before = calls[turns->begins.front() - 1];
    const bool all = std::all_of(turns->begins.begin(), turns->begins.end(),
                                 [&](size_t begin) { return calls[begin - 1] == before; });
    if (!all || before == anchor) return;
    for (size_t &begin : turns->begins) {
      while (begin > 0 && calls[begin - 1] == before) --begin;
    }
  }
}

/// The last turn makes calls as the others do, and no more of them than one of these.
void find_end(Calls calls, Turns *turns) {
  const auto uses = uses_of(calls, *turns, false);
  std::map<Symbol, uint64_t> here;
  turns->end = turns->begins.back();
  for (; turns->end < calls.size(); ++turns->end) {
    const auto use = uses.find(calls[turns->end]);
    if (use == uses.end() || ++here[calls[turns->end]] > use->second.most) return;
  }
}

/// What comes before a loop may begin as its turns do: the first exchange of a halo, say. That is no turn: it makes
/// some call that no other makes, and at most half as many of those that turns make as any other.
void leave_false_start(Calls calls, Turns *turns) {
  if (turns->begins.size() <= kLeastTurns) return;
  Turns others{{turns->begins.begin() + 1, turns->begins.end()}, turns->end};
  const auto uses = uses_of(calls, others, false);
  const size_t second = others.begins.front();
  size_t alike = 0;
  for (size_t i = turns->begins.front(); i < second; ++i) alike += uses.count(calls[i]);
  if (alike == second - turns->begins.front()) return;
  for (size_t turn = 1; turn < others.begins.size(); ++turn) {
    if (alike * 2 > others.begins[turn] - others.begins[turn - 1]) return;
  }
  *turns = std::move(others);
}

LoopItem loop_of(Calls calls, const Turns &turns) {
  const uint64_t count = turns.begins.size();
  std::vector<std::pair<double, LoopItem>> body;
  for (const auto &[place, use] : uses_of(calls, turns, true)) {
    LoopItem item;
    item.symbol = item.number = place;
    item.times = count;
    item.turns = use.all;
    item.least = use.least;
    item.most = use.most;
    item.last = use.most;
    body.emplace_back(use.first / static_cast<double>(use.turns), std::move(item));
  }
  std::stable_sort(body.begin(), body.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  LoopItem loop;
  loop.turns = loop.least = loop.most = loop.last = count;
  for (auto &[when, item] : body) loop.body.push_back(std::move(item));
  loop.number = UINT32_MAX / 2;  // no other body is compared with it
  return loop;
}

Items items_of(Calls calls, const ShowsTurns &shows) {
  Items items = loops_of(calls);
  if (tells_enough(items)) return items;
  return or_uneven_loops(std::move(items), calls, shows);
}

/// All calls that the item stands for.
uint64_t calls_of(const LoopItem &item) {
  if (!item.is_loop()) return item.turns;
  uint64_t calls = 0;
  for (const LoopItem &inner : item.body) calls += calls_of(inner);
  return calls;
}

/// Those of its calls that each turn of the loops around them makes about as often as every other.
uint64_t even_calls_of(const LoopItem &item) {
  constexpr uint64_t kQuarters = 4;
  if ((item.most - item.least) * kQuarters > item.most) return 0;
  if (!item.is_loop()) return item.turns;
  uint64_t calls = 0;
  for (const LoopItem &inner : item.body) calls += even_calls_of(inner);
  return calls;
}

constexpr size_t kFew = 16;

template <typename Calls>
uint64_t sum(const Items &items, const Calls &calls) {
  return std::accumulate(items.begin(), items.end(), uint64_t{0},
                         [&](uint64_t all, const LoopItem &item) { return all + calls(item); });
}
template <typename Calls>
uint64_t sum_of_loops(const Items &items, const Calls &calls) {
  return sum(items, [&](const LoopItem &item) { return item.is_loop() ? calls(item) : 0; });
}

bool are_few_loops(const Items &items) {
  return sum_of_loops(items, [](const LoopItem & /*loop*/) { return uint64_t{1}; }) <= kFew;
}

void add_places(const LoopItem &item, std::set<Symbol> *places) {
  if (!item.is_loop()) places->insert(item.symbol);
  for (const LoopItem &inner : item.body) add_places(inner, places);
}
size_t places_in(const LoopItem &item) {
  std::set<Symbol> places;
  add_places(item, &places);
  return places.size();
}

/// How many calls a step makes: a turn of the largest loop, or of one in it that has most of that one's calls and
/// places.
uint64_t step_length(const Items &items) {
  const LoopItem *step = nullptr;
  for (const Items *body = &items;; body = &step->body) {
    const LoopItem *largest = nullptr;
    for (const LoopItem &item : *body) {
      if (item.is_loop() && (largest == nullptr || calls_of(item) > calls_of(*largest))) largest = &item;
    }
    const bool inner = largest != nullptr && step != nullptr;
    const bool is_step =
        inner && calls_of(*largest) * 2 >= calls_of(*step) && places_in(*largest) * 4 >= places_in(*step) * 3;
    if (largest == nullptr || (inner && !is_step)) return step == nullptr ? 0 : calls_of(*step) / step->turns;
    step = largest;
  }
}

}  // namespace

bool tells_enough(const std::vector<LoopItem> &items) {
  return items.size() <= kFew ||
         (are_few_loops(items) && sum_of_loops(items, even_calls_of) * 2 >= sum(items, calls_of));
}

std::optional<std::vector<LoopItem>> uneven_loops(Calls calls, const ShowsTurns &shows) {
  auto turns = find_turns(calls, shows);
  if (!turns) return std::nullopt;
  begin_with_first(calls, &*turns);
  leave_false_start(calls, &*turns);
  begin_earlier(calls, &*turns);
  find_end(calls, &*turns);
  const size_t begin = turns->begins.front();
  if ((turns->end - begin) * kLeastShare < calls.size()) return std::nullopt;
  Items items = items_of(calls.first(begin), shows);
  items.push_back(loop_of(calls, *turns));
  for (LoopItem &each : items_of(calls.subspan(turns->end), shows)) items.push_back(std::move(each));
  return items;
}

std::vector<LoopItem> or_uneven_loops(std::vector<LoopItem> items, Calls calls, const ShowsTurns &shows) {
  auto uneven = uneven_loops(calls, shows);
  if (!uneven || uneven->size() * 2 > items.size()) return items;
  // What a step does again and again is alike, too: of an iteration with ten exchanges it would be told as one.
  constexpr uint64_t kFiner = 4;
  const bool finer = step_length(items) >= kFiner * step_length(*uneven);
  const bool readable = are_few_loops(items) && sum_of_loops(items, calls_of) * 2 >= calls.size();
  return readable && finer ? std::move(items) : *std::move(uneven);
}

}  // namespace cairn::analyze
