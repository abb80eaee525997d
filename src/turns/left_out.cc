#include "turns/left_out.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "analyze/rank_messages.h"
#include "spec/spec.h"
#include "trace/read/repeats.h"
#include "turns/balance.h"
#include "turns/ledger.h"

namespace cairn::turns {
namespace {

/// Turns with fewer in all are not worth a jump.
constexpr uint64_t kFewestRows = 64;

bool touches_windows(uint32_t function) {
  const spec::Function &found = spec::functions()[function];
  return std::any_of(found.parameters, found.parameters + found.parameter_count,
                     [](const spec::Parameter &parameter) { return parameter.kind == spec::Kind::window; });
}

/// The loops of one rank.
class RankLoops {
 public:
  RankLoops() = default;  ///< none
  RankLoops(const trace::Trace &trace, uint32_t rank, const std::function<trace::Repeats &(uint32_t)> &repeats_of) {
    for (const trace::SequenceView &sequence : trace.sequences(rank)) {
      for (const trace::Repeat &each : repeats_of(sequence.class_index).of(rank)) {
        places_.push_back({sequence.thread, sequence.segment, each});
      }
    }
    if (places_.empty()) return;
    trace::Events events(trace, rank);
    for (const Place &place : places_) {
      Loop &loop = all_.emplace_back();
      loop.turns = place.repeat.turns;
      for (uint64_t i = 0; i <= kLead; ++i) loop.lead[i] = begin_of(place, i, &events);
      for (uint64_t i = 0; i <= kLeastTail; ++i) {
        loop.tail[i] = begin_of(place, place.repeat.turns - kLeastTail + i, &events);
      }
    }
  }
  [[nodiscard]] const std::vector<Loop> &all() const { return all_; }
  /// The first call of a turn of one of them.
  [[nodiscard]] uint64_t begin_of(size_t loop, uint64_t turn, trace::Events *events) const {
    return begin_of(places_[loop], turn, events);
  }

 private:
  struct Place {
    uint32_t thread = 0;
    uint32_t segment = 0;
    trace::Repeat repeat;
  };
  static uint64_t begin_of(const Place &place, uint64_t turn, trace::Events *events) {
    const trace::Repeat &repeat = place.repeat;
    return events->index_of_row(place.thread, place.segment, repeat.row + turn * repeat.rows).value_or(0);
  }
  std::vector<Place> places_;
  std::vector<Loop> all_;
};

/// Of all classes, made when first asked for.
class AllRepeats {
 public:
  explicit AllRepeats(const trace::Trace &trace) : trace_(trace), repeats_(trace.class_count()) {}
  trace::Repeats &of(uint32_t class_index) {
    std::optional<trace::Repeats> &of = repeats_[class_index];
    if (!of) {
      of.emplace(trace_, class_index, kLead + kLeastTail, kFewestRows, [](const trace::Structure::RowHead &row) {
        return row.function < spec::functions().size() && !touches_windows(row.function);
      });
    }
    return *of;
  }

 private:
  const trace::Trace &trace_;
  std::vector<std::optional<trace::Repeats>> repeats_;
};

/// What all ranks count.
class Books {
 public:
  explicit Books(const analyze::MessageScope &scope) : scope_(scope) {}

  void add(uint32_t rank, const LoopCounts &counts) {
    const auto loop = static_cast<uint32_t>(turns_.size());
    turns_.push_back(counts.loop.turns);
    for (const auto &[what, each_turn] : counts.each_turn) {
      const bool meets = what.by == Counted::By::member;
      Counted account = what;
      account.by = meets ? Counted::By::member : Counted::By::sender;
      if (meets) account.key.from = 0;
      const auto [at, fresh] = numbers_.try_emplace(account, static_cast<uint32_t>(accounts_.size()));
      const auto &places = scope_.places[what.key.communicator];
      if (fresh) accounts_.emplace_back().sides.resize(meets ? places.size() : 2);
      const size_t side = meets ? places.at(rank) : what.by == Counted::By::sender ? 0 : 1;
      accounts_[at->second].sides[side].push_back({loop, each_turn, counts.second.at(what)});
    }
  }
  [[nodiscard]] std::vector<uint64_t> turns_to_leave_out() const {
    return turns::turns_to_leave_out(turns_, accounts_);
  }

 private:
  const analyze::MessageScope &scope_;
  std::vector<uint64_t> turns_;
  std::vector<Account> accounts_;
  std::map<Counted, uint32_t> numbers_;
};

}  // namespace

Result<LeftOut> LeftOut::of(const trace::Trace &trace, const analyze::Messages &messages) {
  LeftOut found;
  const std::vector<uint32_t> ranks = trace.ranks();
  AllRepeats repeats(trace);
  std::vector<RankLoops> loops;
  loops.reserve(ranks.size());
  uint64_t calls = 0;
  uint64_t most = 0;  // of them, that may go
  for (const uint32_t rank : ranks) {
    calls += trace.call_count(rank);
    if (trace.has_threads(rank)) {
      loops.emplace_back();
      continue;
    }
    loops.emplace_back(trace, rank, [&](uint32_t class_index) -> trace::Repeats & { return repeats.of(class_index); });
    for (const Loop &loop : loops.back().all()) most += loop.between();
  }
  if (most < calls - std::min(calls, most) || !messages.scope().lossy.empty()) return found;

  Books books(messages.scope());
  std::vector<std::pair<size_t, size_t>> counted;  // which rank, which of its loops
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (loops[i].all().empty()) continue;
    const auto counts = count_turns(messages.scope(), ranks[i], loops[i].all());
    if (!counts) return tl::unexpected(counts.error());
    for (size_t k = 0; k < counts->size(); ++k) {
      books.add(ranks[i], (*counts)[k]);
      counted.emplace_back(i, k);
    }
  }
  const std::vector<uint64_t> turns = books.turns_to_leave_out();
  std::optional<trace::Events> events;  // of that rank
  for (size_t n = 0; n < counted.size(); ++n) {
    if (n == 0 || counted[n].first != counted[n - 1].first) events.reset();
    if (turns[n] == 0) continue;
    const auto [i, k] = counted[n];
    if (!events) events.emplace(trace, ranks[i]);
    const Loop &loop = loops[i].all()[k];
    const uint64_t to = loops[i].begin_of(k, kLead + turns[n], &*events);
    found.cuts_[ranks[i]].push_back({loop.lead.back(), to});
    found.turns_[ranks[i]].push_back({loop.lead[kLead - 1], loop.lead.back(), 1 + turns[n]});
    found.left_out_ += to - loop.lead.back();
  }
  return found;
}

uint64_t LeftOut::stands_for(uint32_t rank, uint64_t call) const {
  const auto of_rank = turns_.find(rank);
  if (of_rank == turns_.end()) return 1;
  const auto behind = std::upper_bound(of_rank->second.begin(), of_rank->second.end(), call,
                                       [](uint64_t wanted, const Turn &turn) { return wanted < turn.begin; });
  if (behind == of_rank->second.begin() || call >= std::prev(behind)->end) return 1;
  return std::prev(behind)->stands_for;
}

}  // namespace cairn::turns
