#include "turns/rank_loops.h"

#include <algorithm>
#include <functional>

#include "analyze/communicator_names.h"
#include "spec/spec.h"

namespace cairn::turns {
namespace {

/// Turns with fewer in all are not worth a jump.
constexpr uint64_t kFewestRows = 64;

bool has(uint32_t function, const std::function<bool(const spec::Parameter &)> &which) {
  const spec::Function &found = spec::functions()[function];
  return std::any_of(found.parameters, found.parameters + found.parameter_count, which);
}
bool touches_windows(uint32_t function) {
  return has(function, [](const spec::Parameter &parameter) { return parameter.kind == spec::Kind::window; });
}
/// It may take one more reference to what is there.
bool looks_up(uint32_t function) {
  return has(function, [](const spec::Parameter &parameter) { return parameter.effect == spec::Effect::lookup; });
}
bool releases(uint32_t function) {
  return has(function, [](const spec::Parameter &parameter) { return parameter.effect == spec::Effect::release; });
}

}  // namespace

trace::Repeats &AllRepeats::of(uint32_t class_index) {
  std::optional<trace::Repeats> &of = repeats_[class_index];
  if (of) return *of;
  const auto is_known = [](const trace::Structure::RowHead &row) { return row.function < spec::functions().size(); };
  const auto rows = trace::structure_of(trace_, class_index).rows;
  const bool counts = std::any_of(rows.begin(), rows.end(), [&](const trace::Structure::RowHead &row) {
    return is_known(row) && looks_up(row.function);
  });
  of.emplace(trace_, class_index, kLead + kLeastTail, kFewestRows, [&](const trace::Structure::RowHead &row) {
    return is_known(row) && !touches_windows(row.function) && !analyze::CommunicatorNames::makes_some(row.function) &&
           !(counts && (looks_up(row.function) || releases(row.function)));
  });
  return *of;
}

RankLoops::RankLoops(const trace::Trace &trace, uint32_t rank, AllRepeats *repeats) : trace_(trace), rank_(rank) {
  if (trace.has_threads(rank)) return;
  for (const trace::SequenceView &sequence : trace.sequences(rank)) {
    for (const trace::Repeat &each : repeats->of(sequence.class_index).of(rank)) {
      places_.push_back({sequence.thread, sequence.segment, each});
    }
  }
}

std::vector<Loop> RankLoops::until(std::optional<uint64_t> call) {
  std::vector<Loop> all;
  for (size_t place = 0; place < places_.size(); ++place) {
    const uint64_t turns = call ? turns_until(place, *call) : places_[place].repeat.turns;
    if (turns <= kLead + kLeastTail) break;
    Loop &loop = all.emplace_back();
    loop.turns = turns;
    for (size_t i = 0; i <= kLead; ++i) loop.lead[i] = begin_of(place, i);
    for (size_t i = 0; i <= kLeastTail; ++i) loop.tail[i] = begin_of(place, turns - kLeastTail + i);
  }
  return all;
}

uint64_t RankLoops::begin_of(size_t loop, uint64_t turn) {
  if (!events_) events_.emplace(trace_, rank_, false);
  const Place &place = places_[loop];
  return events_->index_of_row(place.thread, place.segment, place.repeat.row + turn * place.repeat.rows).value_or(0);
}

uint64_t RankLoops::turns_until(size_t loop, uint64_t call) {
  uint64_t some = 0;  // that many do
  uint64_t more = places_[loop].repeat.turns + 1;
  while (more - some > 1) {
    const uint64_t middle = some + (more - some) / 2;
    (begin_of(loop, middle) <= call ? some : more) = middle;
  }
  return some;
}

std::vector<analyze::Cut> RankLoops::cuts_before(uint64_t call) {
  std::vector<analyze::Cut> cuts;
  for (const Loop &loop : until(call)) cuts.push_back({loop.lead.back(), loop.tail.front()});
  return cuts;
}

std::vector<analyze::Cut> RankLoops::cuts_behind(uint64_t call) {
  std::vector<analyze::Cut> cuts;
  for (size_t place = 0; place < places_.size(); ++place) {
    const uint64_t turns = places_[place].repeat.turns;
    const uint64_t first = std::min(turns_until(place, call) + 1, turns) + kLead;
    if (first + kLeastTail < turns) cuts.push_back({begin_of(place, first), begin_of(place, turns - kLeastTail)});
  }
  return cuts;
}

}  // namespace cairn::turns
