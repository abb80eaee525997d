#include "analyze/rank_calls.h"

#include <algorithm>
#include <utility>

#include "analyze/decode.h"
#include "analyze/names_before.h"

namespace cairn::analyze {

using trace::Event;

std::unique_ptr<trace::StepCounter> steps_of(const trace::Trace &trace, const Sources &sources, const Filter &filter,
                                             uint32_t rank) {
  if (!filter.steps.chooses()) return nullptr;
  trace::StepCounter::Begins begins;
  if (!filter.step_at.empty()) {
    begins = [&](uint32_t class_index, uint32_t function, uint32_t site) {
      if (is_named(filter.step_at, function_name(function))) return true;
      const auto names = site_names(sources.position(class_index, site));
      return std::any_of(names.begin(), names.end(),
                         [&](const std::string &name) { return is_named(filter.step_at, name); });
    };
  }
  return std::make_unique<trace::StepCounter>(trace, rank, begins);
}

bool RankCalls::chooses(const Filter &filter) {
  return filter.chooses_calls() || filter.window || filter.from != 0 || filter.steps.chooses();
}

RankCalls::RankCalls(const trace::Trace &trace, const Sources &sources, const Filter &filter, const WantedCalls &wanted,
                     uint32_t rank, See see)
    : trace_(trace),
      filter_(filter),
      wanted_(wanted),
      see_(std::move(see)),
      chooses_(chooses(filter)),
      rank_(rank),
      several_threads_(trace.has_threads(rank)),
      events_(trace, rank),
      steps_(steps_of(trace, sources, filter, rank)),
      names_(trace, rank) {
  if (!filter.steps.taken.empty()) last_step_ = 0;
  for (const Span &span : filter.steps.taken) last_step_ = std::max(last_step_, static_cast<uint64_t>(span.last));
  if (see_) return;
  const auto has_some = [&](const trace::SequenceView &sequence) {
    const auto rows = trace::structure_of(trace, sequence.class_index).rows;
    return std::any_of(rows.begin(), rows.end(), [&](const trace::Structure::RowHead &row) {
      return wanted_.may_want(sequence.class_index, row.function, row.site);
    });
  };
  const auto sequences = trace.sequences(rank);
  ended_ = filter.chooses_calls() && std::none_of(sequences.begin(), sequences.end(), has_some);
  if (!ended_) go_to_begin();
}

void RankCalls::go_to_begin() {
  uint64_t begin = filter_.from;
  if (filter_.window) begin = std::max(begin, events_.index_near(filter_.window->begin_ns));
  if (steps_ && !filter_.steps.taken.empty()) {
    uint64_t first = UINT64_MAX;
    for (const Span &span : filter_.steps.taken) first = std::min(first, static_cast<uint64_t>(span.first));
    ended_ = first >= steps_->count();
    if (ended_) return;
    uint64_t step = UINT64_MAX;
    for (const auto &[thread, segment, row] : steps_->begins(first)) {
      step = std::min(step, events_.index_of_row(thread, segment, row).value_or(0));
    }
    if (step != UINT64_MAX) begin = std::max(begin, step);
  }
  if (begin == 0) return;
  events_.seek(begin);
  NamesBefore before(trace_, rank_);
  if (const CommunicatorNames *names = before.next_call_of(events_)) {
    names_ = *names;
  } else {
    events_.seek(0);
  }
}

std::optional<uint64_t> RankCalls::step_count() const { return steps_ ? std::optional(steps_->count()) : std::nullopt; }

bool RankCalls::is_in_window(const Event &event) const {
  return !filter_.window || !event.timed || filter_.window->overlaps(event.begin_ns, event.end_ns);
}

bool RankCalls::takes(const Event &event) {
  if (!chooses_) return true;
  if (!is_in_window(event) || event.index < filter_.from) return false;
  if (!wanted_.may_want(event.class_index, event.values->function, event.values->site)) return false;
  const auto has_step = [&](const Span &span) { return span.has({false, false, static_cast<int64_t>(*step_)}); };
  if (steps_ && !filter_.steps.has(has_step)) return false;
  if (wanted_.by_head_only()) return true;
  constexpr size_t kMostAnswers = size_t{1} << 18;
  if (answers_.size() >= kMostAnswers) answers_.clear();
  const uint64_t key = uint64_t{event.class_index} << 32 | event.call;
  const auto [answer, added] = answers_.try_emplace(key);
  const uint64_t version = wanted_.by_communicators() ? names_.version() : 0;
  if (added || answer->second.names_version != version) {
    answer->second = {wanted_.wants(event.class_index, *event.values, &names_), version};
  }
  return answer->second.wants;
}

NextRow RankCalls::rows_that_may_be(const Event &event) const {
  const trace::SequenceView sequence = [&] {
    for (const trace::SequenceView &each : trace_.sequences(rank_)) {
      if (each.thread == event.thread && each.segment == event.segment) return each;
    }
    return trace::SequenceView();
  }();
  const std::vector<bool> equal = trace::rows_of_equal_calls(trace_, sequence);
  const bool by_row = !wanted_.by_head_only() && !wanted_.by_communicators();
  return NextRow(trace_, event.class_index, [&](uint32_t row, const trace::Structure::RowHead &head) {
    if (CommunicatorNames::makes_some(head.function)) return true;
    if (!wanted_.may_want(event.class_index, head.function, head.site)) return false;
    return !by_row || !equal[row] || wanted_.wants(event.class_index, trace_.row(event.class_index, row, rank_));
  });
}

void RankCalls::pass_over(const Event &event) {
  constexpr uint64_t kFar = 64;  // rows, which cost as much as going there
  constexpr uint64_t kMostPatience = 4096;
  in_vain_ = 0;
  auto known = next_rows_.find(event.segment);
  if (known == next_rows_.end()) known = next_rows_.emplace(event.segment, rows_that_may_be(event)).first;
  const NextRow &rows = known->second;
  const uint64_t next = rows.from(event.row_place + 1);
  patience_ = next < event.row_place + kFar ? std::min(2 * patience_, kMostPatience) : kLeastPatience;
  if (next < event.row_place + kFar) return;
  const auto index = events_.index_of_row(event.thread, event.segment, next);
  if (index && *index > event.index) events_.seek(*index);
}

const Event *RankCalls::next() {
  const bool may_pass = !see_ && !several_threads_ && filter_.chooses_calls();
  while (!ended_) {
    const Event *event = events_.next();
    at_end_ = event == nullptr;
    if (at_end_) break;
    names_.see(*event->values);
    if (see_) see_(*event);
    if (steps_) {
      step_ = steps_->of(*event);
      ended_ = steps_->count() == 0 || (!several_threads_ && step_ > last_step_);
    }
    // A call that is in none and begins behind the window: so do all after it, unless tickets, which tell the order of
    // threads, say otherwise than times.
    if (filter_.window && !several_threads_ && event->timed && event->values->depth == 0) {
      ended_ = ended_ || event->begin_ns > filter_.window->end_ns;
    }
    if (ended_) break;
    if ((!steps_ || step_) && takes(*event)) {
      in_vain_ = 0;
      return event;
    }
    if (may_pass && ++in_vain_ >= patience_) pass_over(*event);
  }
  return nullptr;
}

}  // namespace cairn::analyze
