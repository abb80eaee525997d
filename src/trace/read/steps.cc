#include "trace/read/steps.h"

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
      if (loop && (!largest || loop->length * loop->count > largest->length * largest->count)) largest = loop;
      place += length * term.count;
    }
    return largest;
  }

  const grammar::Grammar &calls_;
  std::vector<Known> known_;
};

}  // namespace

std::optional<uint64_t> Steps::of(uint64_t row_place) const {
  if (row_place < first || length == 0) return std::nullopt;
  const uint64_t step = (row_place - first) / length;
  return step < count ? std::optional(step) : std::nullopt;
}

std::optional<Steps> steps_of(const grammar::Grammar &calls) {
  if (calls.empty()) return std::nullopt;
  return LoopFinder(calls).of(0);
}

std::optional<uint64_t> StepCounter::of(const Event &event) {
  Thread &thread = threads_[event.thread];
  if (thread.segment != event.segment) {
    if (thread.steps) thread.before += thread.steps->count;
    thread.segment = event.segment;
    thread.steps = steps_of(*class_part_of(*trace_, event.class_index).calls);
  }
  const std::optional<uint64_t> step = thread.steps ? thread.steps->of(event.row_place) : std::nullopt;
  return step ? std::optional(*step + thread.before) : std::nullopt;
}

}  // namespace cairn::trace
