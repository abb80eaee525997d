#include "export/reach.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "analyze/rank_messages.h"
#include "turns/rank_loops.h"
#include "turns/replay_part.h"

namespace cairn::exporting {
namespace {

class Nobody : public analyze::Arrivals {
  void message(const analyze::Edge & /*edge*/) override {}
  [[nodiscard]] bool wants_meetings() const override { return false; }
};

/// The wanted ranks and whom they received from.
Result<std::vector<uint32_t>> with_senders(const Scope &scope, const analyze::Messages &messages) {
  std::set<uint32_t> all(scope.wanted.ranks.begin(), scope.wanted.ranks.end());
  for (const uint32_t rank : scope.wanted.ranks) {
    analyze::Channels channels;
    channels.tell_placed([&all](const analyze::ChannelKey &key) { all.insert(key.from); });
    analyze::Gatherings gatherings(messages.scope());
    analyze::MessageCounts counts;
    Nobody nobody;
    const auto cuts = turns::RankLoops(*scope.trace, rank, scope.repeats.get()).cuts_before(UINT64_MAX);
    analyze::RankMessages calls(messages.scope(), rank, &channels, &gatherings, &counts, &nobody, cuts, false);
    while (calls.read()) calls.take_steps([](const auto & /*step*/) {});
    if (!calls.end()) return tl::unexpected(calls.end().error());
  }
  const std::vector<uint32_t> known = scope.trace->ranks();
  std::vector<uint32_t> ranks;
  std::set_intersection(all.begin(), all.end(), known.begin(), known.end(), std::back_inserter(ranks));
  return ranks;
}

Result<void> replay(const Scope &scope, const analyze::Messages &messages, const std::vector<uint32_t> &ranks,
                    analyze::Arrivals *arrivals) {
  turns::PartAsked asked;
  if (!scope.wanted.all_ranks) asked.ranks = &ranks;
  if (scope.wanted.window) asked.begin_ns = scope.wanted.window->begin_ns;
  const auto told = turns::replay_part(*scope.trace, messages, asked, arrivals);
  return told ? Result<void>() : tl::unexpected(told.error());
}

}  // namespace

Result<void> replay_wanted(const Scope &scope, const analyze::Messages &messages, analyze::Arrivals *arrivals) {
  return replay(scope, messages, scope.wanted.ranks, arrivals);
}

Result<void> learn_received_sizes(Scope *scope) {
  if (!ReceivedSizes::are_needed(*scope->trace)) return {};
  const auto messages = analyze::Messages::of(*scope->trace, *scope->sources);
  if (!messages) return tl::unexpected(messages.error());
  std::optional<uint64_t> end_ns;
  if (scope->wanted.window) end_ns = scope->wanted.window->end_ns;
  auto received = ReceivedSizes::of(end_ns, scope->matching, [&](analyze::Arrivals *arrivals) {
    // What is wrong with calls and times is told by who reads them.
    if (scope->wanted.all_ranks) return (void)replay_wanted(*scope, *messages, arrivals);
    const auto ranks = with_senders(*scope, *messages);
    if (ranks) (void)replay(*scope, *messages, *ranks, arrivals);
  });
  if (!received) return tl::unexpected(received.error());
  scope->received = *std::move(received);
  return {};
}

}  // namespace cairn::exporting
