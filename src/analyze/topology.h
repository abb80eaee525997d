// Topologies: which neighbours the collective operations of a communicator have that was made with a topology, as far
// as the rank's own calls say: of Cartesian ones, of graphs, and of distributed graphs whose calls name their own
// neighbours (MPI_Dist_graph_create_adjacent) or were asked for them (MPI_Dist_graph_neighbors). Of others
// (MPI_Dist_graph_create) what all of their processes said together says who they are, but not in which order.
//
// Fed with one rank's calls in their order. One thread. Memory for the neighbours.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/communicator_names.h"
#include "analyze/dist_graph.h"
#include "analyze/row_access.h"

namespace cairn::analyze {

class Topologies {
 public:
  /// `graphs`: of the run (Communicators); it must outlive this. nullptr: nothing is known of them.
  explicit Topologies(const DistGraphs *graphs = nullptr) : graphs_(graphs) {}
  /// The call made that communicator.
  void see(const RowAccess &row, const NewCommunicator &made);
  /// MPI_Dist_graph_neighbors of that communicator.
  void asked(const RowAccess &row, const std::string &communicator);
  /// nullopt: not known.
  [[nodiscard]] std::optional<Neighbors> of(const std::string &communicator, uint32_t place) const;

  /// The rank's calls say the same as those of another did.
  bool operator==(const Topologies &) const = default;

 private:
  struct Topology {
    std::vector<int64_t> dimensions;
    std::vector<int64_t> periods;
    std::vector<int64_t> index;
    std::vector<int64_t> edges;
    std::optional<Neighbors> own;
    std::shared_ptr<const DistGraph> graph;

    bool operator==(const Topology &) const = default;
  };
  const DistGraphs *graphs_;
  std::map<std::string, Topology, std::less<>> known_;
};

}  // namespace cairn::analyze
