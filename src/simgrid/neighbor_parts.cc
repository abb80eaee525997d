#include "simgrid/neighbor_parts.h"

#include <optional>

#include "spec/ids.h"

namespace cairn::simgrid {

void NeighborParts::see(const trace::Event &event) {
  const trace::Row &row = *event.values;
  if (calls_.made() != nullptr) topologies_.see(analyze::RowAccess(row, scopes_[event.class_index]), *calls_.made());
  if (row.function != spec::function_id::Dist_graph_neighbors) return;
  const analyze::RowAccess access(row, scopes_[event.class_index]);
  const auto name = access.handle("comm");
  const std::string *text = name ? calls_.name_of(*name) : nullptr;
  if (text != nullptr) topologies_.asked(access, *text);
}

bool NeighborParts::of(const Collective &collective, const View &view, std::vector<Part> *sends,
                       std::vector<Part> *receives) const {
  const std::string *name = calls_.name_of(collective.communicator);
  const auto known = name == nullptr ? std::nullopt : topologies_.of(*name, view.place);
  // Whether it is known must not depend on how much this process sends: the others tell their side of the messages.
  if (!known || (!known->ordered && collective.each)) return false;
  const auto amount = [](const std::vector<uint64_t> &amounts, size_t place) {
    return amounts.size() == 1 ? amounts[0] : place < amounts.size() ? amounts[place] : 0;
  };
  for (size_t i = 0; i < known->destinations.size(); ++i) {
    if (const auto to = view.in_world(known->destinations[i])) sends->push_back({*to, amount(collective.sends, i)});
  }
  for (const uint32_t i : known->order) {
    if (const auto from = view.in_world(known->sources[i]))
      receives->push_back({*from, amount(collective.receives, i)});
  }
  return true;
}

}  // namespace cairn::simgrid
