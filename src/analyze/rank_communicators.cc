#include "analyze/rank_communicators.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "analyze/communicators.h"
#include "spec/ids.h"

namespace cairn::analyze {

RankCommunicators::RankCommunicators(const MessageScope &scope, uint32_t rank)
    : scope_(scope), rank_(rank), names_(*scope.trace, rank), topologies_(&scope.communicators.graphs()) {}

void RankCommunicators::see(const trace::Row &row, const RowScope &scope) {
  if (const NewCommunicator *made = names_.see(row)) topologies_.see(RowAccess(row, scope), *made);
  if (row.function != spec::function_id::Dist_graph_neighbors) return;
  const RowAccess access(row, scope);
  const std::optional<HandleName> communicator = access.handle("comm");
  const std::string *name = communicator && communicator->special == 0 ? names_.name(communicator->number) : nullptr;
  if (name != nullptr) topologies_.asked(access, *name);
}

/// Those who send to this process when it makes a collective call of that communicator among neighbours.
void RankCommunicators::add_neighbors(const HandleName &communicator, uint32_t place, Awaited *awaited) const {
  const std::string *name = communicator.special == 0 ? names_.name(communicator.number) : nullptr;
  const auto neighbors = name == nullptr ? std::nullopt : topologies_.of(*name, place);
  if (!neighbors) return;
  for (const int64_t source : neighbors->sources) {
    if (source >= 0 && source != int64_t{place}) awaited->ranks.push_back(static_cast<uint32_t>(source));
  }
}

Awaited RankCommunicators::awaited_in(const MessageCall &call, uint32_t communicator, uint32_t place) const {
  const auto members = static_cast<uint32_t>(scope_.places[communicator].size());
  const uint32_t first_group = scope_.first_groups[communicator];
  const bool two = first_group != 0;
  Awaited awaited = (two ? call.is_root : call.root == int64_t{place}) ? call.awaited_at_root : call.awaited;
  if (two && !call.customary) {
    // Each waits for those of the other group, by their ranks there.
    const uint32_t first = place < first_group ? first_group : 0;
    const uint32_t others = place < first_group ? members - first_group : first_group;
    if (std::exchange(awaited.all, false)) {
      awaited.ranks.resize(others);
      std::iota(awaited.ranks.begin(), awaited.ranks.end(), 0U);
    }
    std::erase_if(awaited.ranks, [&](uint32_t rank) { return rank >= others; });
    for (uint32_t &rank : awaited.ranks) rank += first;
  }
  if (call.awaits_lower) {
    for (uint32_t lower = 0; lower < place; ++lower) awaited.ranks.push_back(lower);
  }
  if (call.awaits_neighbors) add_neighbors(*call.communicator, place, &awaited);
  std::erase_if(awaited.ranks, [&](uint32_t rank) { return rank >= members; });
  return awaited;
}

std::optional<uint32_t> RankCommunicators::number_of(const std::optional<HandleName> &name) {
  if (!name) return std::nullopt;
  if (name->constant() == spec::constant_id::k_COMM_WORLD) return scope_.world_of(rank_);
  if (name->constant() == spec::constant_id::k_COMM_SELF) return kSelfNumber;
  if (name->special != 0) return std::nullopt;
  if (names_version_ != names_.version()) numbers_.clear();
  names_version_ = names_.version();
  const auto [known, fresh] = numbers_.try_emplace(name->number);
  if (fresh) {
    const std::string *text = names_.name(name->number);
    const auto found = text == nullptr ? scope_.numbers.end() : scope_.numbers.find(*text);
    if (found != scope_.numbers.end()) known->second = found->second;
  }
  return known->second;
}

std::optional<uint32_t> RankCommunicators::in_world(uint32_t communicator, int64_t rank) const {
  if (communicator == kSelfNumber) return rank_;
  return world_rank(*scope_.by_number[communicator], rank, rank_, Side::other);
}

}  // namespace cairn::analyze
