#include "analyze/loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "analyze/summary.h"
#include "analyze/uneven_loops.h"
#include "spec/spec.h"
#include "trace/read/events.h"

namespace cairn::analyze {
namespace {

using grammar::Grammar;
using grammar::Symbol;

/// What calls of one place have in common.
using PlaceKey = std::tuple<uint32_t, std::string, std::string>;

PlaceKey key_of(uint32_t function, const Position &position, const std::vector<Position> &callers) {
  std::string above;
  for (const Position &caller : callers) above += caller.text() + '\n';
  return {function, position.text(), std::move(above)};
}

/// Not a call that only tells something, as MPI_Wtime and MPI_Comm_rank do: one that moves data, meets others, or looks
/// for a message or at a request.
bool involves_others(uint32_t id) {
  const spec::Function &function = spec::functions()[id];
  if (function.collective || function.asked_source != 0) return true;
  const auto *const end = function.parameters + function.parameter_count;
  return std::any_of(function.parameters, end, [](const spec::Parameter &parameter) {
    return parameter.kind == spec::Kind::request || parameter.count_parameter != 0;
  });
}

/// Its sequences are these, by the numbers of their places.
using KindKey = std::pair<uint32_t, std::vector<Hash128>>;

void count_visits(const std::vector<LoopItem> &items, std::vector<LoopPlace> *places) {
  for (const LoopItem &item : items) {
    if (!item.is_loop()) (*places)[item.symbol].visits += item.turns;
    count_visits(item.body, places);
  }
}

/// The loop, with what its body takes added up.
Loop loop_of(const LoopItem *item, const std::vector<LoopItem> &items, const std::vector<LoopPlace> &places) {
  Loop loop;
  loop.item = item;
  loop.time_ns = 0;
  const auto add = [&loop](double calls, double bytes, double unsized, std::optional<double> time) {
    loop.calls += calls;
    loop.bytes += bytes;
    loop.unsized_calls += unsized;
    loop.time_ns = loop.time_ns && time ? std::optional(*loop.time_ns + *time) : std::nullopt;
  };
  if (items.empty()) {
    const LoopPlace &place = places[item->symbol];
    const double part = static_cast<double>(item->turns) / static_cast<double>(place.visits);
    const auto of = [part](uint64_t whole) { return part * static_cast<double>(whole); };
    add(of(place.calls), of(place.bytes), of(place.unsized_calls),
        place.timed ? std::optional(of(place.time_ns)) : std::nullopt);
  }
  for (const LoopItem &inner : items) {
    loop.body.push_back(loop_of(&inner, inner.body, places));
    const Loop &last = loop.body.back();
    add(last.calls, last.bytes, last.unsized_calls, last.time_ns);
  }
  return loop;
}

void add_symbols(const Loop &loop, std::set<uint32_t> *symbols) {
  if (loop.is_call() && loop.item != nullptr) symbols->insert(loop.item->symbol);
  for (const Loop &inner : loop.body) add_symbols(inner, symbols);
}

/// Of the loops in `loop` the one with most calls; nullptr if there is none.
Loop *largest_in(Loop *loop) {
  Loop *largest = nullptr;
  for (Loop &inner : loop->body) {
    if (inner.item->most > 1 && (largest == nullptr || inner.calls > largest->calls)) largest = &inner;
  }
  return largest;
}

/// How many turns that go another way stand right behind the loop at `place` of that body: all that its own turns have,
/// in order, and some more.
uint64_t turns_behind(const std::vector<Loop> &body, size_t place) {
  const std::vector<LoopItem> &turn = body[place].item->body;
  uint64_t turns = 0;
  size_t next = place + 1;
  for (size_t at = next, found = 0; at < body.size() && turn.size() > 1; ++at) {
    const bool same = body[at].item->number == turn[found].number;
    found += same ? 1 : 0;
    // A step does not begin with what others lack, and has no more of that than others have in all.
    if (found == 0 || at - next + 1 - found > turn.size() / 2) break;
    if (found < turn.size()) continue;
    ++turns;
    next = at + 1;
    found = 0;
  }
  return turns;
}

void mark_step(Loop *all) {
  Loop *outer = all;
  Loop *step = largest_in(all);
  constexpr double kLeastPart = 0.25;
  if (step == nullptr || step->calls < kLeastPart * all->calls) return;
  for (;;) {
    Loop *inner = largest_in(step);
    if (inner == nullptr || inner->calls * 2 < step->calls) break;
    std::set<uint32_t> own;
    std::set<uint32_t> within;
    add_symbols(*step, &own);
    add_symbols(*inner, &within);
    constexpr size_t kQuarters = 4;
    if (within.size() * kQuarters < own.size() * (kQuarters - 1)) break;
    outer = step;
    step = inner;
  }
  step->is_step = true;
  step->further_turns = turns_behind(outer->body, static_cast<size_t>(step - outer->body.data()));
}

/// The outermost first.
std::vector<const Position *> frames_of(const LoopPlace &place) {
  std::vector<const Position *> frames = {&place.position};
  for (const Position &caller : place.callers) frames.insert(frames.begin(), &caller);
  return frames;
}

/// The first frame that is not the same for all; the last of the first one's if all are.
size_t parting(const std::vector<std::vector<const Position *>> &frames) {
  const std::vector<const Position *> &first = frames.front();
  for (size_t depth = 0; depth + 1 < first.size(); ++depth) {
    for (const auto &other : frames) {
      if (depth >= other.size() || other[depth]->text() != first[depth]->text()) return depth;
    }
  }
  return first.size() - 1;
}

}  // namespace

LoopFinder::LoopFinder(const trace::Trace &trace, const Sources &sources) : trace_(trace), sources_(sources) {
  std::map<PlaceKey, uint32_t> numbers;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    threads_ = threads_ || trace.class_view(index).thread != 0;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> known;  // by function and site
    std::vector<uint32_t> &places = by_class_.emplace_back();
    for (const trace::Structure::RowHead &row : trace::structure_of(trace, index).rows) {
      const auto [entry, fresh] = known.try_emplace({row.function, row.site});
      if (fresh) {
        LoopPlace place;
        place.function = row.function;
        place.position = sources.position(index, row.site);
        place.callers = sources.callers(index, row.site);
        const auto next = static_cast<uint32_t>(numbers.size());
        entry->second = numbers.try_emplace(key_of(place.function, place.position, place.callers), next).first->second;
        if (entry->second == places_.size()) places_.push_back(std::move(place));
      }
      places.push_back(entry->second);
    }
  }
}

std::vector<KindOfRank> LoopFinder::kinds(const Filter &filter) const {
  std::vector<Hash128> hashes;
  for (uint32_t index = 0; index < trace_.class_count(); ++index) {
    const std::vector<uint32_t> &places = by_class_[index];
    hashes.push_back(trace_.class_view(index).calls->sequence_hash([&](Symbol row) { return places[row]; }));
  }
  std::map<KindKey, KindOfRank> by_key;
  std::vector<char> taken(trace_.rank_count());
  for (const uint32_t rank : filter.ranks) taken[rank] = 1;
  std::map<const KindOfRank *, bool> wanted;
  for (const uint32_t rank : trace_.ranks()) {
    std::map<uint32_t, std::vector<Hash128>> threads;
    for (const trace::SequenceView &sequence : trace_.sequences(rank)) {
      threads[sequence.thread].push_back(hashes[sequence.class_index]);
    }
    for (auto &[thread, key] : threads) {
      KindOfRank &kind = by_key[{thread, std::move(key)}];
      kind.thread = thread;
      kind.ranks.push_back(rank);
      wanted[&kind] = wanted[&kind] || (taken[rank] != 0 && filter.has_thread(thread));
    }
  }
  std::vector<KindOfRank> result;
  for (auto &[key, kind] : by_key) {
    if (wanted[&kind]) result.push_back(std::move(kind));
  }
  std::stable_sort(result.begin(), result.end(), [](const KindOfRank &a, const KindOfRank &b) {
    if (a.ranks.size() != b.ranks.size()) return a.ranks.size() > b.ranks.size();
    return std::tie(a.ranks.front(), a.thread) < std::tie(b.ranks.front(), b.thread);
  });
  return result;
}

Result<void> LoopFinder::find_structure(KindOfRank *kind) const {
  Grammar calls;
  for (const trace::SequenceView &sequence : trace_.sequences(kind->ranks.front())) {
    if (sequence.thread != kind->thread) continue;
    const std::vector<uint32_t> &places = by_class_[sequence.class_index];
    const Grammar own = trace_.class_view(sequence.class_index).calls->mapped([&](Symbol row) { return places[row]; });
    calls = calls.empty() ? own : Grammar::concatenated(calls, own);
  }
  std::optional<std::vector<LoopItem>> items = loops_of(calls);
  if (!items) {
    return fail(
        ErrorKind::usage,
        fmt::format("the calls of rank {} are too many and too irregular to find loops in", kind->ranks.front()),
        "cairn summary --callsites tells where they were made");
  }
  constexpr uint64_t kMostCalls = uint64_t{1} << 21;
  if (!tells_enough(*items) && calls.length() <= kMostCalls) {
    const auto shows = [this](Symbol place) { return involves_others(places_[place].function); };
    items = or_uneven_loops(*std::move(items), calls.expand(), shows);
  }
  kind->items = *std::move(items);
  kind->places = places_;
  count_visits(kind->items, &kind->places);
  return {};
}

Result<void> LoopFinder::find(KindOfRank *kind) const {
  if (auto done = find_structure(kind); !done) return done;
  Filter filter;
  filter.ranks = kind->ranks;
  filter.all_ranks = kind->ranks.size() == trace_.ranks().size();
  if (threads_) filter.threads.taken.push_back({kind->thread, kind->thread, 0});
  const Result<Summary> summary = summarise(trace_, sources_, filter, GroupBy::call_site);
  if (!summary) return tl::unexpected(summary.error());
  std::map<PlaceKey, LoopPlace *> by_key;
  for (LoopPlace &place : kind->places) {
    by_key.emplace(key_of(place.function, place.position, place.callers), &place);
    place.timed = place.visits != 0;
  }
  for (const SummaryLine &line : summary->lines) {
    const auto found = by_key.find(key_of(line.function, line.position, line.callers));
    if (found == by_key.end()) continue;
    LoopPlace &place = *found->second;
    place.calls += line.calls;
    place.bytes += line.bytes;
    place.unsized_calls += line.unsized_calls;
    place.timed = place.timed && line.timed;
    place.time_ns += line.time_ns;
  }
  kind->all = loop_of(nullptr, kind->items, kind->places);
  mark_step(&kind->all);
  return {};
}

namespace {

/// Those that stay, by their numbers of calls, the outer ones first.
class Kept {
 public:
  Kept(Loop *all, size_t most) {
    add_body(all);
    while (kept_.size() < most && !next_.empty()) {
      Loop *loop = std::get<2>(*next_.begin());
      next_.erase(next_.begin());
      keep(loop);
    }
  }
  /// Of a loop and those in it; whether any went.
  bool leave_others(Loop *loop) {
    const size_t before = loop->body.size();
    bool gone = false;
    std::vector<Loop> body;
    for (Loop &inner : loop->body) {
      if (kept_.count(&inner) == 0) continue;
      gone = leave_others(&inner) || gone;
      body.push_back(std::move(inner));
    }
    loop->body = std::move(body);
    loop->left_out = before - loop->body.size();
    loop->shortened = gone || loop->left_out != 0;
    return loop->shortened;
  }

 private:
  void keep(Loop *loop) {
    // A loop without anything in it would be a call.
    while (true) {
      kept_.insert(loop);
      if (loop->is_call()) return;
      Loop *first = &*std::max_element(loop->body.begin(), loop->body.end(),
                                       [](const Loop &a, const Loop &b) { return a.calls < b.calls; });
      add_body(loop, first);
      loop = first;
    }
  }
  void add_body(Loop *loop, const Loop *without = nullptr) {
    for (Loop &inner : loop->body) {
      if (&inner != without) next_.emplace(-inner.calls, number_, &inner);
      ++number_;
    }
  }
  uint64_t number_ = 0;
  std::set<std::tuple<double, uint64_t, Loop *>> next_;
  std::unordered_set<const Loop *> kept_;
};

}  // namespace

void shorten(Loop *loop, size_t most) {
  assert(most > 0);
  Kept(loop, most).leave_others(loop);
}

Loop shape_of(const LoopItem &item) {
  Loop loop;
  loop.item = &item;
  for (const LoopItem &inner : item.body) loop.body.push_back(shape_of(inner));
  return loop;
}

std::string text_of(const Loop &loop, const std::vector<LoopPlace> &places) {
  if (loop.shortened && loop.item != nullptr) return text_of(shape_of(*loop.item), places);
  std::set<uint32_t> symbols;
  add_symbols(loop, &symbols);
  std::vector<std::vector<const Position *>> frames;
  frames.reserve(symbols.size());
  for (const uint32_t symbol : symbols) frames.push_back(frames_of(places[symbol]));
  if (frames.empty()) return {};
  const size_t depth = parting(frames);
  Position first = *frames.front()[depth];
  uint32_t most = first.line;
  std::map<std::string, const Position *> functions;
  for (const auto &each : frames) {
    const Position &frame = *each[std::min(depth, each.size() - 1)];
    functions.try_emplace(frame.function, &frame);
    if (frame.file != first.file) continue;
    most = std::max(most, frame.line);
    first.line = std::min(first.line, frame.line);
  }
  if (first.text().empty()) return {};
  if (functions.size() > 1) {
    // With callers known these are functions that the compiler put into one.
    const Loop *call = &loop;
    while (!call->is_call()) call = &call->body.front();
    const std::vector<const Position *> of_first = frames_of(places[call->item->symbol]);
    const Position &named = *of_first[std::min(depth, of_first.size() - 1)];
    functions.erase(named.function);
    if (functions.size() > 1) return fmt::format("{} and {} other functions", named.short_text(), functions.size());
    const std::string other = functions.begin()->second->function_text();
    return fmt::format("{} and {}", named.short_text(), other.empty() ? "another function" : other);
  }
  std::string text = first.short_text();
  if (first.file.empty() || most == first.line) return text;
  const std::string line = fmt::format(":{}", first.line);
  return text.replace(text.find(line), line.size(), fmt::format(":{}-{}", first.line, most));
}

}  // namespace cairn::analyze
