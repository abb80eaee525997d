#include "turns/left_out.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analyze/rank_messages.h"
#include "spec/spec.h"
#include "trace/read/repeats.h"
#include "turns/balance.h"
#include "turns/ledger.h"

namespace cairn::turns {
namespace {

/// Turns with fewer calls in all are not worth a jump.
constexpr uint64_t kFewestCalls = 64;

bool touches_windows(uint32_t function) {
  const spec::Function &found = spec::functions()[function];
  return std::any_of(found.parameters, found.parameters + found.parameter_count,
                     [](const spec::Parameter &parameter) { return parameter.kind == spec::Kind::window; });
}

/// The loops of all ranks.
class AllLoops {
 public:
  explicit AllLoops(const trace::Trace &trace) : trace_(trace), repeats_(trace.class_count()) {}

  /// Those of the rank, none of which has turns that differ.
  std::vector<Loop> of(uint32_t rank) {
    std::vector<Loop> loops;
    std::optional<trace::Events> events;
    for (const trace::SequenceView &sequence : trace_.sequences(rank)) {
      for (const trace::Repeat &each : repeats_of(sequence.class_index).of(rank)) {
        if (!events) events.emplace(trace_, rank);
        const auto first = events->index_of_row(sequence.thread, sequence.segment, each.row);
        if (first) loops.push_back({*first, each.rows, each.turns});
      }
    }
    return loops;
  }

 private:
  trace::Repeats &repeats_of(uint32_t class_index) {
    std::optional<trace::Repeats> &of = repeats_[class_index];
    if (!of) {
      of.emplace(trace_, class_index, kLead + kLeastTail, kFewestCalls, [](const trace::Structure::RowHead &row) {
        return row.function < spec::functions().size() && !touches_windows(row.function);
      });
    }
    return *of;
  }

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
  AllLoops all_loops(trace);
  std::vector<std::vector<Loop>> loops;
  uint64_t most = 0;  // that may go
  for (const uint32_t rank : ranks) {
    found.calls_ += trace.call_count(rank);
    const bool one_thread = !trace.has_threads(rank);
    loops.push_back(one_thread ? all_loops.of(rank) : std::vector<Loop>());
    for (const Loop &loop : loops.back()) most += (loop.turns - kLead - kLeastTail) * loop.calls;
  }
  if (most < found.calls_ - std::min(found.calls_, most) || !messages.scope().lossy.empty()) return found;

  Books books(messages.scope());
  std::vector<std::pair<uint32_t, Loop>> counted;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (loops[i].empty()) continue;
    const auto counts = count_turns(messages.scope(), ranks[i], loops[i]);
    if (!counts) return tl::unexpected(counts.error());
    for (const LoopCounts &each : *counts) {
      books.add(ranks[i], each);
      counted.emplace_back(ranks[i], each.loop);
    }
  }
  const std::vector<uint64_t> turns = books.turns_to_leave_out();
  for (size_t i = 0; i < counted.size(); ++i) {
    if (turns[i] == 0) continue;
    const auto &[rank, loop] = counted[i];
    const uint64_t from = loop.first + kLead * loop.calls;
    found.cuts_[rank].push_back({from, from + turns[i] * loop.calls});
    found.turns_[rank].push_back({from - loop.calls, from, 1 + turns[i]});
    found.left_out_ += turns[i] * loop.calls;
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
