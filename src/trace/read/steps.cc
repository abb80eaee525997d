#include "trace/read/steps.h"

#include <algorithm>
#include <vector>

#include "trace/read/trace_body.h"

namespace cairn::trace {
namespace {

/// The largest loop of each rule, beginning with those that others use.
class LoopFinder {
 public:
  explicit LoopFinder(const grammar::Grammar &calls) : calls_(calls), known_(calls.rules().size()) {}

  /// Its place is counted from the beginning of the rule.
  std::optional<Steps> of(uint32_t rule) {
    std::vector<uint32_t> under_way = {rule};
    while (!under_way.empty()) {
      const uint32_t at = under_way.back();
      const size_t before = under_way.size();
      for (const grammar::Term &term : calls_.rules()[at]) {
        if (enters(term) && !known_[term.id].done) under_way.push_back(term.id);
      }
      if (under_way.size() != before) continue;
      under_way.pop_back();
      if (!known_[at].done) known_[at] = {true, find(at)};
    }
    return known_[rule].loop;
  }

 private:
  struct Known {
    bool done = false;
    std::optional<Steps> loop;
  };

  static bool enters(const grammar::Term &term) { return term.is_rule && term.count == 1; }

  std::optional<Steps> find(uint32_t rule) const {
    std::optional<Steps> largest;
    uint64_t place = 0;
    for (const grammar::Term &term : calls_.rules()[rule]) {
      const uint64_t length = term.is_rule ? calls_.lengths()[term.id] : 1;
      std::optional<Steps> loop;
      if (term.count > 1) loop = Steps{place, length, term.count};
      if (enters(term) && known_[term.id].loop) {
        loop = known_[term.id].loop;
        loop->first += place;
      }
      if (loop && (!largest || loop->length * loop->turns > largest->length * largest->turns)) largest = loop;
      place += length * term.count;
    }
    return largest;
  }

  const grammar::Grammar &calls_;
  std::vector<Known> known_;
};

std::vector<grammar::Symbol> rows_of(const grammar::Grammar &calls, uint64_t first, uint64_t count) {
  std::vector<grammar::Symbol> rows;
  grammar::Walker walker(calls, first);
  for (uint64_t i = 0; i < count; ++i) rows.push_back(walker.next());
  return rows;
}

}  // namespace

std::optional<uint64_t> Steps::of(uint64_t row_place) const {
  if (row_place + before < first || length == 0) return std::nullopt;
  if (row_place < first) return 0;
  const uint64_t end = first + turns * length;
  if (row_place >= end + after) return std::nullopt;
  return (before != 0 ? 1 : 0) + (row_place < end ? (row_place - first) / length : turns);
}

std::optional<Steps> steps_of(const grammar::Grammar &calls) {
  if (calls.empty()) return std::nullopt;
  std::optional<Steps> steps = LoopFinder(calls).of(0);
  constexpr uint64_t kLongest = uint64_t{1} << 20;  // where a turn is longer, nobody asks for its rest
  if (!steps || steps->length > kLongest) return steps;
  const std::vector<grammar::Symbol> turn = rows_of(calls, steps->first, steps->length);
  const auto is_step = [&](uint64_t rows) { return rows > steps->length / 2 ? rows : 0; };
  const uint64_t end = steps->first + steps->turns * steps->length;
  const std::vector<grammar::Symbol> next = rows_of(calls, end, std::min(steps->length, calls.length() - end));
  const auto [same, last] = std::mismatch(next.begin(), next.end(), turn.begin());
  steps->after = is_step(static_cast<uint64_t>(same - next.begin()));
  const uint64_t most = std::min(steps->length, steps->first);
  const std::vector<grammar::Symbol> front = rows_of(calls, steps->first - most, most);
  const auto [differs, turned] = std::mismatch(front.rbegin(), front.rend(), turn.rbegin());
  steps->before = is_step(static_cast<uint64_t>(differs - front.rbegin()));
  return steps;
}

uint64_t step_count(const Trace &trace, uint32_t rank) {
  std::map<uint32_t, uint64_t> counts;
  uint64_t most = 0;
  for (const SequenceView &sequence : trace.sequences(rank)) {
    const auto steps = steps_of(*class_part_of(trace, sequence.class_index).calls);
    uint64_t &count = counts[sequence.thread];
    if (steps) count += steps->count();
    most = std::max(most, count);
  }
  return most;
}

std::optional<uint64_t> StepCounter::of(const Event &event) {
  Thread &thread = threads_[event.thread];
  if (thread.segment != event.segment) {
    if (thread.steps) thread.earlier += thread.steps->count();
    thread.segment = event.segment;
    thread.steps = steps_of(*class_part_of(*trace_, event.class_index).calls);
  }
  const std::optional<uint64_t> step = thread.steps ? thread.steps->of(event.row_place) : std::nullopt;
  return step ? std::optional(*step + thread.earlier) : std::nullopt;
}

}  // namespace cairn::trace
