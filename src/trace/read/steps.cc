#include "trace/read/steps.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "base/as_size.h"
#include "trace/read/trace_body.h"

namespace cairn::trace {
namespace {

using grammar::Grammar;
using grammar::Symbol;
using grammar::Term;

/// A rule, or a call by itself.
struct Body {
  uint32_t id = 0;
  bool is_rule = true;
  auto operator<=>(const Body &) const = default;
};

class LoopFinder {
 public:
  LoopFinder(const Grammar &calls, const std::vector<Symbol> &rows) : calls_(calls), rows_(rows) {}

  std::optional<Body> find() const {
    std::optional<Loop> loop = largest_in(0);
    while (loop && loop->body.is_rule) {
      const std::optional<Loop> inner = largest_in(loop->body.id);
      if (!inner || inner->covers * 2 < length(loop->body) || rows_.empty()) break;
      constexpr size_t kQuarters = 4;
      if (rows_in(inner->body) * kQuarters < rows_in(loop->body) * (kQuarters - 1)) break;
      loop = inner;
    }
    return loop ? std::optional(loop->body) : std::nullopt;
  }

  /// Some times in a row.
  struct Place {
    uint64_t begin = 0;
    uint64_t count = 0;
  };
  /// How many places there are.
  [[nodiscard]] uint64_t count_places(const Body &body) const {
    const std::vector<uint64_t> times = calls_.rule_multiplicities();
    uint64_t count = 0;
    for (uint32_t rule = 0; rule < times.size(); ++rule) {
      for (const Term &term : calls_.rules()[rule]) count += is(term, body) ? times[rule] : 0;
    }
    return count;
  }
  /// Where it begins, each time.
  [[nodiscard]] std::vector<Place> places(const Body &body) const {
    std::vector<char> has(calls_.rules().size());
    for (const uint32_t rule : order(0)) {
      for (const Term &term : calls_.rules()[rule]) {
        has[rule] |= static_cast<char>(is(term, body) || (term.is_rule && has[term.id] != 0));
      }
    }
    std::vector<Place> found;
    struct Level {
      uint32_t rule;
      size_t term = 0;
      uint64_t done = 0;  ///< of the term's repetitions
    };
    std::vector<Level> levels = {{0}};
    uint64_t place = 0;
    while (!levels.empty()) {
      Level &level = levels.back();
      const auto &terms = calls_.rules()[level.rule];
      if (level.term == terms.size()) {
        levels.pop_back();
        continue;
      }
      const Term &term = terms[level.term];
      const bool enters = term.is_rule && has[term.id] != 0 && !is(term, body);
      if (enters && level.done < term.count) {
        ++level.done;
        levels.push_back({term.id});
        continue;
      }
      if (!enters) {
        if (is(term, body)) found.push_back({place, term.count});
        place += length({term.id, term.is_rule}) * term.count;
      }
      ++level.term;
      level.done = 0;
    }
    return found;
  }

  [[nodiscard]] uint64_t length(const Body &body) const { return body.is_rule ? calls_.lengths()[body.id] : 1; }

 private:
  struct Loop {
    Body body;
    uint64_t covers = 0;  ///< of the calls of the rule that it was looked for in
  };

  static bool is(const Term &term, const Body &body) { return term.id == body.id && term.is_rule == body.is_rule; }

  /// Of a rule and those under it, each after those that it uses.
  [[nodiscard]] std::vector<uint32_t> order(uint32_t root) const {
    std::vector<uint32_t> result;
    std::vector<char> state(calls_.rules().size());  // 0 new, 1 under way, 2 done
    std::vector<uint32_t> under_way = {root};
    while (!under_way.empty()) {
      const uint32_t rule = under_way.back();
      if (state[rule] != 0) {
        under_way.pop_back();
        if (std::exchange(state[rule], 2) == 1) result.push_back(rule);
        continue;
      }
      state[rule] = 1;
      for (const Term &term : calls_.rules()[rule]) {
        if (term.is_rule && state[term.id] == 0) under_way.push_back(term.id);
      }
    }
    return result;
  }

  /// What covers most of a rule of all that is repeated there; what stands in a repetition is not looked at.
  [[nodiscard]] std::optional<Loop> largest_in(uint32_t root) const {
    std::vector<uint32_t> rules = order(root);
    std::vector<uint64_t> times(calls_.rules().size());
    times[root] = 1;
    std::map<Body, uint64_t> turns;
    for (auto rule = rules.rbegin(); rule != rules.rend(); ++rule) {
      for (const Term &term : calls_.rules()[*rule]) {
        if (times[*rule] == 0) continue;
        turns[{term.id, term.is_rule}] += times[*rule] * term.count;
        if (term.is_rule && term.count == 1) times[term.id] += times[*rule];
      }
    }
    std::optional<Loop> largest;
    for (const auto &[body, count] : turns) {
      const Loop loop{body, count * length(body)};
      if (count < 2) continue;
      if (!largest || std::tuple(loop.covers, length(body)) > std::tuple(largest->covers, length(largest->body))) {
        largest = loop;
      }
    }
    return largest;
  }

  /// Different ones, the first time.
  [[nodiscard]] size_t rows_in(const Body &body) const {
    const uint64_t begin = places(body).front().begin;
    std::set<Symbol> different;
    for (uint64_t i = begin; i < begin + length(body) && i < rows_.size(); ++i) different.insert(rows_[as_size(i)]);
    return different.size();
  }

  const Grammar &calls_;
  const std::vector<Symbol> &rows_;
};

std::vector<Symbol> calls_from(const Grammar &calls, uint64_t first, uint64_t count) {
  std::vector<Symbol> symbols;
  grammar::Walker walker(calls, first);
  for (uint64_t i = 0; i < count; ++i) symbols.push_back(walker.next());
  return symbols;
}

/// The calls of one thread, twice: as rows, which tell arguments apart, and by where they were made.
class Sequence {
 public:
  explicit Sequence(const Trace &trace) : trace_(trace) {}

  /// Gives where it begins.
  uint64_t add(uint32_t class_index, const StepCounter::Begins &begins) {
    const std::vector<Site> sites = trace_.sites(class_index);
    const std::vector<Structure::RowHead> rows = structure_of(trace_, class_index).rows;
    const auto first_row = static_cast<Symbol>(place_.size());
    for (const Structure::RowHead &row : rows) {
      const Site site = row.site < sites.size() ? sites[row.site] : Site{};
      const auto [known, fresh] = places_.try_emplace({row.function, row.depth, site.module, site.offset, site.caller},
                                                      static_cast<Symbol>(places_.size()));
      place_.push_back(known->second);
      if (fresh) begins_.push_back(begins && begins(class_index, row.function, row.site));
    }
    const uint64_t begin = calls_.length();
    const Grammar own = class_part_of(trace_, class_index).calls->mapped([&](Symbol row) { return first_row + row; });
    calls_ = calls_.empty() ? own : Grammar::concatenated(calls_, own);
    return begin;
  }

  [[nodiscard]] Steps steps(bool at) const {
    constexpr uint64_t kMost = uint64_t{1} << 24;  // some hundred nanoseconds each
    if (calls_.length() > kMost) return at ? Steps() : steps_of(calls_, {});
    const std::vector<Symbol> rows = calls_.expand();
    std::vector<Symbol> places;
    places.reserve(rows.size());
    for (const Symbol row : rows) places.push_back(place_[row]);
    if (at) return steps_at(places, [&](Symbol place) { return begins_[place]; });
    // What ranks of a class share may have come out of its loops.
    Steps by_row = steps_of(Grammar::from_symbols(rows), rows);
    constexpr uint64_t kEnough = 2;  // half of the calls
    if (by_row.covered() * kEnough >= calls_.length()) return by_row;
    Steps by_place = steps_of(Grammar::from_symbols(places), rows);
    return by_place.covered() > by_row.covered() ? by_place : by_row;
  }

 private:
  const Trace &trace_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint64_t, uint32_t>, Symbol> places_;
  std::vector<bool> begins_;   ///< by place
  std::vector<Symbol> place_;  ///< by row, of all classes
  Grammar calls_;
};

}  // namespace

void Steps::add(uint64_t begin, uint64_t length, uint64_t count) {
  assert(count != 0 && (stretches_.empty() || begin >= stretches_.back().end));
  stretches_.push_back({count_, begin, length, begin + length * count});
  count_ += count;
  covered_ += length * count;
}

void Steps::end_last(uint64_t end) {
  assert(!stretches_.empty() && end >= at(count_ - 1).begin);
  covered_ += end - stretches_.back().end;
  stretches_.back().end = end;
}

Step Steps::at(uint64_t step) const {
  const auto after = std::upper_bound(stretches_.begin(), stretches_.end(), step,
                                      [](uint64_t wanted, const Stretch &one) { return wanted < one.first; });
  const Stretch &stretch = *(after - 1);
  const uint64_t next = after == stretches_.end() ? count_ : after->first;
  const uint64_t begin = stretch.begin + (step - stretch.first) * stretch.length;
  return {begin, step + 1 == next ? stretch.end : begin + stretch.length};
}

std::optional<uint64_t> Steps::of(uint64_t place) const {
  const auto after = std::upper_bound(stretches_.begin(), stretches_.end(), place,
                                      [](uint64_t wanted, const Stretch &one) { return wanted < one.begin; });
  if (after == stretches_.begin() || place >= (after - 1)->end) return std::nullopt;
  const Stretch &stretch = *(after - 1);
  const uint64_t last = (after == stretches_.end() ? count_ : after->first) - 1;
  return stretch.length == 0 ? last : std::min(last, stretch.first + (place - stretch.begin) / stretch.length);
}

Steps steps_of(const Grammar &calls, const std::vector<Symbol> &rows) {
  Steps steps;
  if (calls.empty()) return steps;
  const LoopFinder finder(calls, rows);
  const std::optional<Body> body = finder.find();
  if (!body || finder.count_places(*body) > kMostSteps) return steps;
  const uint64_t length = finder.length(*body);
  const std::vector<LoopFinder::Place> places = finder.places(*body);
  const std::vector<Symbol> turn = calls_from(calls, places.front().begin, length);
  const auto is_most = [&](uint64_t count) { return count > length / 2; };

  uint64_t end = 0;  // of the last step
  for (size_t i = 0; i < places.size(); ++i) {
    end = places[i].begin + length * places[i].count;
    steps.add(places[i].begin, length, places[i].count);
    if (i + 1 == places.size()) break;
    const uint64_t between = places[i + 1].begin - end;
    if (!is_most(between)) {
      steps.end_last(places[i + 1].begin);
    } else if (between < 2 * length) {
      steps.add(end, between);
    }
  }
  const std::vector<Symbol> next = calls_from(calls, end, std::min(length, calls.length() - end));
  const auto same_begin = std::mismatch(next.begin(), next.end(), turn.begin()).first - next.begin();
  if (is_most(static_cast<uint64_t>(same_begin))) steps.add(end, static_cast<uint64_t>(same_begin));
  return steps;
}

Steps steps_at(const std::vector<Symbol> &calls, const std::function<bool(Symbol)> &begins) {
  Steps steps;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!begins(calls[i])) continue;
    if (!steps.empty()) steps.end_last(i);
    steps.add(i, calls.size() - i);
  }
  return steps;
}

StepCounter::StepCounter(const Trace &trace, uint32_t rank, const Begins &begins) {
  std::map<uint32_t, Sequence> sequences;
  for (const SequenceView &view : trace.sequences(rank)) {
    if (view.segment == SequenceRecord::kEpilogue) continue;
    Sequence &sequence = sequences.try_emplace(view.thread, trace).first->second;
    threads_[view.thread].segments[view.segment] = sequence.add(view.class_index, begins);
  }
  for (const auto &[thread, sequence] : sequences) {
    threads_[thread].steps = sequence.steps(static_cast<bool>(begins));
  }
}

std::optional<uint64_t> StepCounter::of(const Event &event) const {
  const auto thread = threads_.find(event.thread);
  if (thread == threads_.end()) return std::nullopt;
  const auto segment = thread->second.segments.find(event.segment);
  if (segment == thread->second.segments.end()) return std::nullopt;
  const uint64_t place = segment->second + event.row_place;
  return thread->second.steps.of(place);
}

std::vector<StepCounter::Place> StepCounter::begins(uint64_t step) const {
  std::vector<Place> places;
  for (const auto &[thread, known] : threads_) {
    if (step >= known.steps.count()) continue;
    const uint64_t begin = known.steps.at(step).begin;
    Place place{thread};
    uint64_t first = 0;
    for (const auto &[segment, start] : known.segments) {
      if (start > begin || start < first) continue;
      first = start;
      place.segment = segment;
    }
    place.row = begin - first;
    places.push_back(place);
  }
  return places;
}

uint64_t StepCounter::count() const {
  uint64_t most = 0;
  for (const auto &[thread, known] : threads_) most = std::max(most, known.steps.count());
  return most;
}

}  // namespace cairn::trace
