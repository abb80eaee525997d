#include "proxy/kept_ranks.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/communicators.h"
#include "spec/ids.h"
#include "trace/read/events.h"
#include "trace/values/atom_reader.h"

namespace cairn::proxy {
namespace {

constexpr size_t kWorld = 0;
constexpr size_t kSelf = 1;
constexpr size_t kUnknown = SIZE_MAX;

}  // namespace

bool makes_topology(std::string_view function) {
  for (const std::string_view each : {"MPI_Cart_create", "MPI_Cart_sub", "MPI_Graph_create", "MPI_Dist_graph_create",
                                      "MPI_Dist_graph_create_adjacent"}) {
    if (function == each) return true;
  }
  return false;
}

bool asks_topology(std::string_view function) {
  const bool about = function.starts_with("MPI_Cart") || function.starts_with("MPI_Graph") ||
                     function.starts_with("MPI_Dist_graph") || function == "MPI_Topo_test";
  return about && !makes_topology(function);
}

Result<KeptRanks> KeptRanks::of(const trace::Trace &trace, const analyze::Sources &sources,
                                const std::vector<uint32_t> &left_out) {
  KeptRanks all;
  all.kept_.assign(trace.rank_count(), true);
  for (const uint32_t rank : left_out) {
    if (rank >= trace.rank_count()) {
      return fail(ErrorKind::usage, fmt::format("--leave-out: there is no rank {}", rank),
                  fmt::format("the trace has ranks 0-{}", trace.rank_count() - 1));
    }
    all.kept_[rank] = false;
  }
  std::vector<uint32_t> world(trace.rank_count());
  all.ranks_.reserve(world.size());
  for (uint32_t rank = 0; rank < world.size(); ++rank) {
    world[rank] = rank;
    if (all.kept_[rank]) all.ranks_.push_back(rank);
  }
  if (all.ranks_.empty()) return fail(ErrorKind::usage, "--leave-out: no rank stays", "leave some in");
  all.number_of(world);
  all.members_.push_back({0});
  all.in_world_.emplace_back();
  if (auto looked = all.look_at(trace, sources); !looked) return tl::unexpected(looked.error());
  return all;
}

size_t KeptRanks::number_of(const std::vector<uint32_t> &in_world) {
  const auto found = std::find(in_world_.begin(), in_world_.end(), in_world);
  if (found != in_world_.end()) return static_cast<size_t>(found - in_world_.begin());
  std::vector<int64_t> now;
  now.reserve(in_world.size());
  int64_t next = 0;
  for (const uint32_t rank : in_world) now.push_back(has(rank) ? next++ : -1);
  members_.push_back(std::move(now));
  in_world_.push_back(in_world);
  return members_.size() - 1;
}

Result<void> KeptRanks::look_at(const trace::Trace &trace, const analyze::Sources &sources) {
  const auto communicators = analyze::Communicators::of(trace, sources);
  if (!communicators) return tl::unexpected(communicators.error());
  std::map<std::string, size_t> known;
  const auto members_of_name = [&](const std::string &name) {
    const auto [entry, added] = known.try_emplace(name, kUnknown);
    const analyze::Communicator *found = added ? communicators->find(name) : nullptr;
    if (found != nullptr && found->complete && found->groups[1].empty()) {
      std::vector<uint32_t> in_world;
      for (const auto &member : found->groups[0]) in_world.push_back(member.in_world);
      entry->second = number_of(in_world);
    }
    return entry->second;
  };
  for (const uint32_t rank : ranks_) {
    analyze::CommunicatorNames names(trace, rank);
    std::map<int64_t, size_t> now;
    trace::Events events(trace, rank);
    while (const trace::Event *event = events.next()) {
      const trace::Row &row = *event->values;
      count(row, now);
      const analyze::NewCommunicator *made = names.see(row);
      const auto numbers = analyze::CommunicatorNames::numbers(row);
      if (made == nullptr || !numbers) continue;
      now[numbers->made] = members_of_name(made->name);
      numbers_[{rank, numbers->made}].insert(now[numbers->made]);
    }
    if (auto end = events.end_of_calls(); !end) return end;
  }
  return {};
}

std::optional<size_t> KeptRanks::members_of(uint32_t rank, trace::Atom comm) const {
  if (comm == trace::constant_atom(spec::constant_id::k_COMM_WORLD)) return kWorld;
  if (comm == trace::constant_atom(spec::constant_id::k_COMM_SELF)) return kSelf;
  const auto found = numbers_.find({rank, comm});
  if (found == numbers_.end() || found->second.size() != 1 || *found->second.begin() == kUnknown) return std::nullopt;
  return *found->second.begin();
}

std::optional<std::pair<int64_t, int64_t>> KeptRanks::place(uint32_t rank, trace::Atom comm) const {
  const auto number = members_of(rank, comm);
  if (!number || *number == kSelf) return std::nullopt;
  const std::vector<uint32_t> &all = in_world_[*number];
  const auto own = std::find(all.begin(), all.end(), rank);
  if (own == all.end()) return std::nullopt;
  return std::pair<int64_t, int64_t>(*std::min_element(all.begin(), all.end()), own - all.begin());
}

void KeptRanks::count(const trace::Row &row, const std::map<int64_t, size_t> &now) {
  const spec::Function &function = spec::functions()[row.function];
  if (asks_topology(function.name)) {
    ++losses_.questions;
    return;
  }
  size_t members = kUnknown;
  for (size_t i = 0; i < function.parameter_count && i < row.fields.size(); ++i) {
    const spec::Parameter &parameter = function.parameters[i];
    if (parameter.kind != spec::Kind::comm || parameter.direction == spec::Direction::out || members != kUnknown)
      continue;
    const trace::AtomValue comm = trace::AtomReader(row.fields[i].atoms).next();
    if (comm.constant() == spec::constant_id::k_COMM_WORLD) members = kWorld;
    const auto found = now.find(comm.value);
    if (!comm.special && !comm.missing && found != now.end()) members = found->second;
  }
  if (members == kUnknown) return;
  const std::vector<int64_t> &of = members_[members];
  bool named = false;
  for (size_t i = 0; i < function.parameter_count && i < row.fields.size(); ++i) {
    const spec::Parameter &parameter = function.parameters[i];
    if (parameter.kind != spec::Kind::rank || parameter.passing != spec::Passing::value) continue;
    const trace::AtomValue value = trace::AtomReader(row.fields[i].atoms).next();
    if (value.constant() == spec::constant_id::k_ANY_SOURCE && function.answer == 0) ++losses_.anybody;
    if (value.special || value.missing || value.value < 0 || static_cast<size_t>(value.value) >= of.size()) continue;
    if (of[static_cast<size_t>(value.value)] >= 0) continue;
    ++(function.collective ? losses_.roots : losses_.partners);
    named = true;
  }
  const bool some = std::find(of.begin(), of.end(), -1) != of.end();
  if (function.collective && some && !named) ++losses_.smaller;
}

}  // namespace cairn::proxy
