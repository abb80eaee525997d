#include "check/deadlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "text/rank_list.h"

namespace cairn::check {
namespace {

class Graph {
 public:
  Graph(const std::vector<Waiter> &waiters, const std::map<uint32_t, size_t> &threads) {
    for (const auto &[rank, count] : threads) moving_[rank] = count;
    stuck_.resize(waiters.size(), true);
    for (const Waiter &waiter : waiters) --moving_[waiter.rank];
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < waiters.size(); ++i) {
        if (!stuck_[i] || !may_go_on(waiters[i])) continue;
        stuck_[i] = false;
        ++moving_[waiters[i].rank];
        changed = true;
      }
    }
  }

  [[nodiscard]] bool is_stuck(size_t waiter) const { return stuck_[waiter]; }
  /// A thread that waits is stuck there, and none of the rank's moves.
  [[nodiscard]] bool moves(uint32_t rank) const {
    const auto found = moving_.find(rank);
    return found == moving_.end() || found->second != 0;  // of what is not in the trace nobody knows
  }
  /// Ranks that a stuck waiter waits for in vain.
  [[nodiscard]] std::vector<uint32_t> in_vain(const Waiter &waiter) const {
    std::vector<uint32_t> ranks;
    for (const auto &need : waiter.needs) {
      const bool met = std::any_of(need.begin(), need.end(), [&](uint32_t rank) { return moves(rank); });
      if (!met) ranks.insert(ranks.end(), need.begin(), need.end());
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    // Who receives from anybody might be sent something by itself.
    if (ranks.size() > 1) std::erase(ranks, waiter.rank);
    return ranks;
  }

 private:
  [[nodiscard]] bool may_go_on(const Waiter &waiter) const {
    if (waiter.ended) return false;
    const auto met = [&](const std::vector<uint32_t> &need) {
      return std::any_of(need.begin(), need.end(), [&](uint32_t rank) { return moves(rank); });
    };
    return waiter.any ? std::any_of(waiter.needs.begin(), waiter.needs.end(), met)
                      : std::all_of(waiter.needs.begin(), waiter.needs.end(), met);
  }

  std::vector<bool> stuck_;
  std::map<uint32_t, size_t> moving_;  ///< threads that do, by rank
};

}  // namespace

std::vector<Deadlock> find_deadlocks(const std::vector<Waiter> &waiters, const std::map<uint32_t, size_t> &threads) {
  std::vector<Deadlock> deadlocks;
  const Graph graph(waiters, threads);
  // Of a rank with several threads the first that waits is shown.
  std::map<uint32_t, size_t> of_rank;
  std::set<uint32_t> stuck;
  for (size_t i = 0; i < waiters.size(); ++i) {
    if (!graph.is_stuck(i)) continue;
    of_rank.try_emplace(waiters[i].rank, i);
    if (!waiters[i].ended && !graph.moves(waiters[i].rank)) stuck.insert(waiters[i].rank);
  }
  std::map<uint32_t, size_t> told;  ///< in which deadlock
  for (const uint32_t start : stuck) {
    if (told.contains(start)) continue;
    // Whoever is waited for in vain, until somebody comes again or has ended.
    std::vector<uint32_t> chain;
    std::optional<uint32_t> at = start;
    while (at) {
      const Waiter &waiter = waiters[of_rank.at(*at)];
      if (waiter.ended) {
        chain.push_back(*at);
        at = std::nullopt;
        break;
      }
      if (!told.try_emplace(*at, deadlocks.size()).second) break;
      chain.push_back(*at);
      const std::vector<uint32_t> ranks = graph.in_vain(waiter);
      // One that is part of this chain shows a cycle; one that still waits is better than one that ended.
      const auto of = [&](const auto &good) {
        const auto found = std::find_if(ranks.begin(), ranks.end(), good);
        return found == ranks.end() ? std::nullopt : std::optional(*found);
      };
      at = of([&](uint32_t rank) { return std::find(chain.begin(), chain.end(), rank) != chain.end(); });
      if (!at) at = of([&](uint32_t rank) { return stuck.count(rank) != 0; });
      if (!at && !ranks.empty()) at = ranks.front();
    }
    // Where it came again a cycle begins.
    const auto again = at ? std::find(chain.begin(), chain.end(), *at) : chain.end();
    if (at && again == chain.end()) {  // waits for what was told already
      const size_t of = told.at(*at);
      for (const uint32_t rank : chain) told[rank] = of;
      deadlocks[of].others.insert(deadlocks[of].others.end(), chain.begin(), chain.end());
      continue;
    }
    Deadlock deadlock;
    if (again != chain.end()) {
      deadlock.others.assign(chain.begin(), again);
      chain.erase(chain.begin(), again);
      std::rotate(chain.begin(), std::min_element(chain.begin(), chain.end()), chain.end());
    }
    for (const uint32_t rank : chain) deadlock.chain.push_back(of_rank.at(rank));
    deadlocks.push_back(std::move(deadlock));
  }
  for (Deadlock &deadlock : deadlocks) std::sort(deadlock.others.begin(), deadlock.others.end());
  return deadlocks;
}

void tell(const Deadlock &deadlock, const std::vector<Waiter> &waiters, Findings *findings) {
  constexpr size_t kShown = 8;
  const std::vector<size_t> &chain = deadlock.chain;
  const Waiter &first = waiters[chain.front()];
  const Waiter &last = waiters[chain.back()];
  std::string text = fmt::format("rank {} in {} waits for ", first.rank, findings->name(first.call));
  for (size_t i = 1; i < chain.size() && i < kShown; ++i) {
    const Waiter &waiter = waiters[chain[i]];
    text += fmt::format("rank {}, which {} {}", waiter.rank, waiter.ended ? "has called" : "is in",
                        findings->name(waiter.call));
    if (!waiter.ended) text += " and waits for ";
  }
  if (chain.size() > kShown) text += fmt::format("others ({} in all)", chain.size());
  if (chain.size() > kShown && !last.ended) text += ", the last of which waits for ";
  if (!last.ended) text += fmt::format("rank {}{}", first.rank, chain.size() == 1 ? " itself" : "");
  if (!deadlock.others.empty()) {
    text += fmt::format("; {} {} for {}", named_ranks(deadlock.others), deadlock.others.size() == 1 ? "waits" : "wait",
                        chain.size() == 1 ? "it" : "them");
  }
  Findings::What what{Kind::deadlock, true, std::move(text)};
  if (last.ended) what.sort = "ended";  // each that waits so is one more of them
  what.others = deadlock.others;
  for (const size_t each : chain) {
    if (!waiters[each].ended) what.ranks.push_back(waiters[each].rank);
  }
  findings->add(std::move(what), first.call, chain.size() > 1 ? std::optional(waiters[chain[1]].call) : std::nullopt);
}

}  // namespace cairn::check
