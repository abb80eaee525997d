#include "analyze/topology.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "base/as_size.h"

namespace cairn::analyze {
namespace {

Neighbors in_order(std::vector<int64_t> sources, std::vector<int64_t> destinations) {
  Neighbors made{std::move(sources), std::move(destinations), {}, true};
  made.order.resize(made.sources.size());
  std::iota(made.order.begin(), made.order.end(), 0U);
  return made;
}

/// Along each dimension the process before and the one after, as MPI orders them. What was sent to the one before it
/// receives from the one after.
std::optional<Neighbors> of_grid(const std::vector<int64_t> &dimensions, const std::vector<int64_t> &periods,
                                 uint32_t place) {
  std::vector<int64_t> all;
  std::vector<uint32_t> order;
  int64_t below = 1;  // processes in a step of the dimension
  for (size_t i = dimensions.size(); i-- > 0;) {
    const int64_t extent = dimensions[i];
    if (extent <= 0 || below > INT32_MAX / extent) return std::nullopt;
    const int64_t here = place / below % extent;
    const int64_t base = int64_t{place} - here * below;
    const bool circle = i < periods.size() && periods[i] != 0;
    const auto neighbor = [&](int64_t at) {
      if (at >= 0 && at < extent) return base + at * below;
      return circle ? base + (at + extent) % extent * below : int64_t{-1};
    };
    all.insert(all.begin(), {neighbor(here - 1), neighbor(here + 1)});
    below *= extent;
  }
  for (uint32_t i = 0; i < all.size(); i += 2) order.insert(order.end(), {i + 1, i});
  return Neighbors{all, all, order, true};
}

}  // namespace

void Topologies::see(const RowAccess &row, const NewCommunicator &made) {
  const std::string_view function = row.function()->name;
  known_.erase(made.name);
  Topology topology;
  const auto numbers = [&](const char *name) { return row.numbers(name).value_or(std::vector<int64_t>()); };
  if (function == "MPI_Cart_create") {
    topology.dimensions = numbers("dims");
    topology.periods = numbers("periods");
  } else if (function == "MPI_Cart_sub") {
    const auto parent = known_.find(made.parent);
    if (parent == known_.end()) return;
    const std::vector<int64_t> kept = numbers("remain_dims");
    for (size_t i = 0; i < std::min(kept.size(), parent->second.dimensions.size()); ++i) {
      if (kept[i] == 0) continue;
      topology.dimensions.push_back(parent->second.dimensions[i]);
      topology.periods.push_back(i < parent->second.periods.size() ? parent->second.periods[i] : 0);
    }
  } else if (function == "MPI_Graph_create") {
    topology.index = numbers("index");
    topology.edges = numbers("edges");
  } else if (function == "MPI_Dist_graph_create_adjacent") {
    topology.own = in_order(numbers("sources"), numbers("destinations"));
  } else if (function.starts_with("MPI_Comm_dup") || function.starts_with("MPI_Comm_idup")) {
    const auto parent = known_.find(made.parent);
    if (parent == known_.end()) return;
    topology = parent->second;
  } else if (function == "MPI_Dist_graph_create") {
    const auto found = graphs_ == nullptr ? DistGraphs::const_iterator() : graphs_->find(made.name);
    if (graphs_ != nullptr && found != graphs_->end()) topology.graph = found->second;
  } else {
    return;
  }
  known_.emplace(made.name, std::move(topology));
}

void Topologies::asked(const RowAccess &row, const std::string &communicator) {
  const auto found = known_.find(communicator);
  if (found == known_.end() || !row.succeeded()) return;
  // A list that is not there has nobody in it.
  const auto read = [&](const char *name) {
    return row.has(name) ? row.numbers(name) : std::optional<std::vector<int64_t>>(std::in_place);
  };
  const auto sources = read("sources");
  const auto destinations = read("destinations");
  if (sources && destinations) found->second.own = in_order(*sources, *destinations);
}

std::optional<Neighbors> Topologies::of(const std::string &communicator, uint32_t place) const {
  const auto found = known_.find(communicator);
  if (found == known_.end()) return std::nullopt;
  const Topology &topology = found->second;
  if (topology.own) return topology.own;
  if (topology.graph) return topology.graph->of(place);
  if (!topology.dimensions.empty()) return of_grid(topology.dimensions, topology.periods, place);
  if (place >= topology.index.size()) return std::nullopt;
  const int64_t first = place == 0 ? 0 : topology.index[place - 1];
  const int64_t end = topology.index[place];
  if (first < 0 || end < first || as_size(end) > topology.edges.size()) return std::nullopt;
  std::vector<int64_t> all(topology.edges.begin() + static_cast<ptrdiff_t>(first),
                           topology.edges.begin() + static_cast<ptrdiff_t>(end));
  return in_order(all, all);
}

}  // namespace cairn::analyze
