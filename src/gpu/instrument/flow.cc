#include "gpu/instrument/flow.h"

#include <set>

namespace cairn::instrument {

int Flow::add(int from, int point) {
  nodes_.push_back({point, {}});
  const int node = static_cast<int>(nodes_.size()) - 1;
  join(from, node);
  return node;
}

void Flow::join(int from, int to) {
  if (from != kNone && to != kNone) nodes_[static_cast<size_t>(from)].next.push_back(to);
}

int Flow::first_point(const std::string &function) const {
  const auto found = entries_.find(function);
  if (found == entries_.end()) return kNone;
  // Places where ways meet may stand before it; what has no point of its own leads on.
  int node = found->second.front();
  for (size_t step = 0; step < nodes_.size(); ++step) {
    const Node &here = nodes_[static_cast<size_t>(node)];
    if (here.point != kNone || here.next.empty()) return here.point;
    node = here.next.front();
  }
  return kNone;
}

std::vector<std::pair<int, int>> Flow::successors() const {
  std::vector<Node> nodes = nodes_;
  for (const auto &[node, function] : calls_) {
    const auto found = entries_.find(function);
    if (node == kNone || found == entries_.end()) continue;
    for (const int entry : found->second) nodes[static_cast<size_t>(node)].next.push_back(entry);
  }
  std::set<std::pair<int, int>> pairs;
  std::vector<size_t> reached(nodes.size(), nodes.size());
  for (size_t start = 0; start < nodes.size(); ++start) {
    if (nodes[start].point == kNone) continue;
    std::vector<size_t> open = {start};
    while (!open.empty()) {
      const size_t node = open.back();
      open.pop_back();
      for (const int next : nodes[node].next) {
        const auto to = static_cast<size_t>(next);
        if (reached[to] == start) continue;
        reached[to] = start;
        if (nodes[to].point != kNone) {
          pairs.emplace(nodes[start].point, nodes[to].point);
        } else {
          open.push_back(to);
        }
      }
    }
  }
  return {pairs.begin(), pairs.end()};
}

}  // namespace cairn::instrument
