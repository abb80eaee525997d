// Collective: what one call of a collective operation moves, in bytes, as far as the rank that made it says.
//
// From the row's values and the sizes of datatypes; ranks are those of the call's communicator. Plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analyze/row_access.h"
#include "analyze/sizes.h"

namespace cairn::analyze {

enum class Operation : uint8_t {
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  reduce,
  allreduce,
  reduce_scatter,
  scan,
  exscan,
  neighbors,  ///< those of the communicator's topology
};

struct Collective {
  Operation operation = Operation::barrier;
  HandleName communicator;
  std::optional<int64_t> root;
  bool is_root = false;   ///< MPI_ROOT of an intercommunicator
  bool aside = false;     ///< MPI_PROC_NULL there: the call moves nothing
  uint64_t bytes = 0;     ///< that this rank gives each, or all, of the others; of bcast and scatter: that each gets
  uint64_t received = 0;  ///< of allgather and alltoall, what comes from each: between two groups that differs
  /// For each rank, of the v and w forms; of `neighbors`, for each neighbour, or one for all of them. Of
  /// reduce_scatter, `receives` says what each rank gets.
  std::vector<uint64_t> sends;
  std::vector<uint64_t> receives;
  bool each = false;                  ///< of the v and w forms: an amount for each
  bool sizes_known = true;            ///< else what is not known counts as nothing
  std::optional<HandleName> request;  ///< that it makes
  bool persistent = false;            ///< which is to be started
};

/// nullptr: the function is no collective operation that moves something or waits for others; making a communicator out
/// of another counts as a barrier of that.
std::unique_ptr<Collective> collective_of(const trace::Row &row, const RowScope &scope, const Sizes &sizes);
bool is_collective(const spec::Function &function);

}  // namespace cairn::analyze
