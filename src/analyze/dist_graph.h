// DistGraph: who is whose neighbour in a communicator of MPI_Dist_graph_create. Each of its processes tells any part of
// the graph, mostly not its own: so all of their calls are put together. In which order a process has its neighbours
// MPI leaves open, and tells who asks (MPI_Dist_graph_neighbors).
//
// Const once it is finished; any thread. Memory for the edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyze/row_access.h"

namespace cairn::analyze {

/// By their ranks in the communicator; nobody (MPI_PROC_NULL) is -1. `order`: the places of `sources` so that messages
/// between two processes that are neighbours twice come in the order in which they are sent.
struct Neighbors {
  std::vector<int64_t> sources;
  std::vector<int64_t> destinations;
  std::vector<uint32_t> order;
  /// The i-th of an operation's amounts is for the i-th of these; else nobody knows which is, on any process.
  bool ordered = true;

  bool operator==(const Neighbors &) const = default;
};

class DistGraph {
 public:
  /// The call that a process made, by its rank in MPI_COMM_WORLD. Not once it is finished.
  void add(uint32_t process, const RowAccess &row);
  /// All is added, of a communicator with so many processes.
  void finish(size_t members);
  /// nullopt: some call is missing, or does not say it.
  [[nodiscard]] std::optional<Neighbors> of(uint32_t place) const;

 private:
  bool known_ = true;
  std::set<uint32_t> told_;
  std::vector<std::pair<int64_t, int64_t>> edges_;  ///< until it is finished, from and to
  std::map<int64_t, Neighbors> neighbors_;
};

/// By the communicator's name.
using DistGraphs = std::map<std::string, std::shared_ptr<const DistGraph>, std::less<>>;

}  // namespace cairn::analyze
