// RankCommunicators: the communicators of one rank as its calls name them: which of the run's they are, who is at a
// place in them, and whom their collective operations wait for.
//
// Fed with the rank's calls in their order. Borrows what is shared. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "analyze/communicator_names.h"
#include "analyze/message_calls.h"
#include "analyze/message_scope.h"
#include "analyze/row_access.h"
#include "analyze/topology.h"
#include "trace/model/record.h"

namespace cairn::analyze {

class RankCommunicators {
 public:
  RankCommunicators(const MessageScope &scope, uint32_t rank);
  /// The rank's next call.
  void see(const trace::Row &row, const RowScope &scope);
  /// As MessageScope numbers them; nullopt: nobody knows which communicator that is.
  std::optional<uint32_t> number_of(const std::optional<HandleName> &name);
  /// In MPI_COMM_WORLD, of what the rank calls by that number; nullopt: nobody.
  [[nodiscard]] std::optional<uint32_t> in_world(uint32_t communicator, int64_t rank) const;
  /// Places of whom the process at `place` waits for.
  [[nodiscard]] Awaited awaited_in(const MessageCall &call, uint32_t communicator, uint32_t place) const;

 private:
  void add_neighbors(const HandleName &communicator, uint32_t place, Awaited *awaited) const;

  const MessageScope &scope_;
  uint32_t rank_;
  CommunicatorNames names_;
  Topologies topologies_;
  uint64_t names_version_ = 0;
  std::map<int64_t, std::optional<uint32_t>> numbers_;  ///< of communicators, as long as their names stay
};

}  // namespace cairn::analyze
