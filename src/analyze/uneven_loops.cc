#include "analyze/uneven_loops.h"

#include <algorithm>
#include <map>
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
std::optional<Turns> find_turns(Calls calls) {
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
    if (place.times >= kLeastTurns && (place.last - place.first) * kLeastShare >= calls.size()) {
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

Items items_of(Calls calls) {
  Items items = loops_of(calls);
  if (items.size() <= kFewItems) return items;
  return or_uneven_loops(std::move(items), calls);
}

}  // namespace

std::optional<std::vector<LoopItem>> uneven_loops(Calls calls) {
  auto turns = find_turns(calls);
  if (!turns) return std::nullopt;
  begin_with_first(calls, &*turns);
  begin_earlier(calls, &*turns);
  find_end(calls, &*turns);
  const size_t begin = turns->begins.front();
  if ((turns->end - begin) * kLeastShare < calls.size()) return std::nullopt;
  Items items = items_of(calls.first(begin));
  items.push_back(loop_of(calls, *turns));
  for (LoopItem &each : items_of(calls.subspan(turns->end))) items.push_back(std::move(each));
  return items;
}

std::vector<LoopItem> or_uneven_loops(std::vector<LoopItem> items, Calls calls) {
  auto uneven = uneven_loops(calls);
  return uneven && uneven->size() * 2 <= items.size() ? *std::move(uneven) : std::move(items);
}

}  // namespace cairn::analyze
