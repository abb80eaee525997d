// Topologies: which neighbours the collective operations of a communicator have that was made with a topology, as far
// as the rank's own calls say: of Cartesian ones, of graphs, and of distributed graphs whose calls name their own
// neighbours (MPI_Dist_graph_create_adjacent) or were asked for them (MPI_Dist_graph_neighbors).
//
// Fed with one rank's calls in their order. One thread. Memory for the neighbours.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyze/communicator_names.h"
#include "analyze/row_access.h"

namespace cairn::analyze {

/// By their ranks in the communicator; nobody (MPI_PROC_NULL) is -1. `order`: the places of `sources` so that messages
/// between two processes that are neighbours twice come in the order in which they are sent.
struct Neighbors {
  std::vector<int64_t> sources;
  std::vector<int64_t> destinations;
  std::vector<uint32_t> order;
};

class Topologies {
 public:
  /// The call made that communicator.
  void see(const RowAccess &row, const NewCommunicator &made);
  /// MPI_Dist_graph_neighbors of that communicator.
  void asked(const RowAccess &row, const std::string &communicator);
  /// nullopt: not known.
  [[nodiscard]] std::optional<Neighbors> of(const std::string &communicator, uint32_t place) const;

 private:
  struct Topology {
    std::vector<int64_t> dimensions;
    std::vector<int64_t> periods;
    std::vector<int64_t> index;
    std::vector<int64_t> edges;
    std::optional<Neighbors> own;
  };
  std::map<std::string, Topology, std::less<>> known_;
};

}  // namespace cairn::analyze
