#include "turns/left_out.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analyze/rank_messages.h"
#include "turns/balance.h"
#include "turns/ledger.h"
#include "turns/rank_loops.h"

namespace cairn::turns {
namespace {

/// What all ranks count.
class Books {
 public:
  Books(const analyze::MessageScope &scope, const Asked &asked, const std::vector<uint32_t> &ranks)
      : scope_(scope), meetings_(asked.meetings), all_(asked.ranks == nullptr), ranks_(ranks) {}

  void add(uint32_t rank, const LoopCounts &counts) {
    const auto loop = static_cast<uint32_t>(turns_.size());
    turns_.push_back(counts.loop.turns);
    for (const auto &[what, each_turn] : counts.each_turn) {
      const bool meets = what.by == Counted::By::member;
      if (meets && !meetings_) continue;
      if (!meets && !(has(what.key.from) && has(what.key.to))) continue;
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
  [[nodiscard]] bool has(uint32_t rank) const { return all_ || std::binary_search(ranks_.begin(), ranks_.end(), rank); }
  const analyze::MessageScope &scope_;
  bool meetings_;
  bool all_;
  const std::vector<uint32_t> &ranks_;
  std::vector<uint64_t> turns_;
  std::vector<Account> accounts_;
  std::map<Counted, uint32_t> numbers_;
};

}  // namespace

Result<LeftOut> LeftOut::of(const trace::Trace &trace, const analyze::Messages &messages, const Asked &asked) {
  LeftOut found;
  const std::vector<uint32_t> ranks = asked.ranks == nullptr ? trace.ranks() : *asked.ranks;
  AllRepeats repeats(trace);
  std::vector<RankLoops> loops;
  std::vector<std::vector<Loop>> of_ranks;
  loops.reserve(ranks.size());
  uint64_t &calls = found.rest_;
  uint64_t most = 0;  // of them, that may go
  for (const uint32_t rank : ranks) {
    std::optional<uint64_t> end;
    if (asked.before_ns) end = trace::Events(trace, rank, false).index_near(*asked.before_ns);
    calls += end.value_or(trace.call_count(rank));
    of_ranks.push_back(loops.emplace_back(trace, rank, &repeats).until(end));
    loops.back().close();
    for (const Loop &loop : of_ranks.back()) most += loop.between();
  }
  if (most < calls - std::min(calls, most) || !messages.scope().lossy.empty()) return found;

  Books books(messages.scope(), asked, ranks);
  std::vector<std::pair<size_t, size_t>> counted;  // which rank, which of its loops
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (of_ranks[i].empty()) continue;
    const auto counts = count_turns(messages.scope(), ranks[i], of_ranks[i]);
    if (!counts) return tl::unexpected(counts.error());
    for (size_t k = 0; k < counts->size(); ++k) {
      books.add(ranks[i], (*counts)[k]);
      counted.emplace_back(i, k);
    }
  }
  const std::vector<uint64_t> turns = books.turns_to_leave_out();
  for (size_t n = 0; n < counted.size(); ++n) {
    if (turns[n] == 0) continue;
    const auto [i, k] = counted[n];
    if (n != 0 && counted[n - 1].first != i) loops[counted[n - 1].first].close();
    const Loop &loop = of_ranks[i][k];
    const uint64_t to = loops[i].begin_of(k, kLead + turns[n]);
    found.cuts_[ranks[i]].push_back({loop.lead.back(), to});
    found.turns_[ranks[i]].push_back({loop.lead[kLead - 1], loop.lead.back(), 1 + turns[n]});
    found.left_out_ += to - loop.lead.back();
  }
  found.rest_ -= found.left_out_;
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
