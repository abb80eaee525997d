// NeighborParts: the messages of neighbourhood collective operations, from the topologies that a rank's calls tell.
//
// Fed with all calls of the rank in their order, after RankCalls. Borrows what it is made with. One thread.
#pragma once

#include <vector>

#include "analyze/topology.h"
#include "simgrid/rank_calls.h"
#include "simgrid/rounds.h"

namespace cairn::simgrid {

class NeighborParts {
 public:
  NeighborParts(const RankCalls &calls, const std::vector<analyze::RowScope> &scopes)
      : calls_(calls), scopes_(scopes), topologies_(&calls.groups().graphs()) {}
  /// The rank's next call, which `calls` has seen.
  void see(const trace::Event &event);
  /// What the rank sends and receives in that operation; false: the trace does not tell its neighbours, or
  /// which of the amounts is whose.
  bool of(const Collective &collective, const View &view, std::vector<Part> *sends, std::vector<Part> *receives) const;

 private:
  const RankCalls &calls_;
  const std::vector<analyze::RowScope> &scopes_;
  analyze::Topologies topologies_;
};

}  // namespace cairn::simgrid
