#include "traffic/members.h"

#include <algorithm>

#include "base/as_size.h"

namespace cairn::traffic {

size_t Place::own_size() const {
  if (world != 0) return world;
  return communicator == nullptr ? 1 : communicator->groups[group].size();
}

size_t Place::peer_size() const { return is_inter() ? communicator->groups[1 - group].size() : own_size(); }

std::optional<uint32_t> Place::in_world(int64_t peer) const {
  if (world != 0) return peer >= 0 && peer < world ? std::optional(first + static_cast<uint32_t>(peer)) : std::nullopt;
  if (communicator == nullptr) return peer == 0 ? std::optional(rank) : std::nullopt;
  const auto &members = communicator->groups[is_inter() ? 1 - group : group];
  // Where nobody is missing, the place in the list is the rank.
  if (peer >= 0 && static_cast<uint64_t>(peer) < members.size() && members[as_size(peer)].rank == peer) {
    const auto &found = members[as_size(peer)];
    if (communicator->complete && !communicator->foreign) return found.in_world;
  }
  return analyze::world_rank(*communicator, peer, rank, analyze::Side::other);
}

std::string_view Place::name() const {
  return communicator == nullptr ? std::string_view("MPI_COMM_SELF") : std::string_view(communicator->name);
}

std::optional<Place> Members::place(const analyze::Communicator *communicator, uint32_t rank) {
  if (communicator == world(rank)) {
    const auto job = trace_->job_of(rank);
    return Place{communicator, rank, 0, rank - job.first, job.size, job.first};
  }
  auto &table = places_[communicator];
  if (table.empty()) {
    for (uint32_t group = 0; group < 2; ++group) {
      for (const auto &member : communicator->groups[group]) {
        table[member.in_world] = {group, static_cast<uint32_t>(std::max<int64_t>(0, member.rank))};
      }
    }
  }
  const auto found = table.find(rank);
  if (found == table.end()) return std::nullopt;
  return Place{communicator, rank, found->second.group, found->second.own, 0, 0};
}

}  // namespace cairn::traffic
