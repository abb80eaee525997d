// Groups: which processes the groups of one rank hold, in their order, from the calls that made them.
//
// Fed with the rank's calls in their order. One thread. Memory for the groups that are there; one of a whole
// communicator shares the communicator's list.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "analyze/row_access.h"
#include "trace/model/record.h"

namespace cairn::analyze {

class Groups {
 public:
  /// Ranks in MPI_COMM_WORLD, by rank in the group; nullptr: not known.
  using Members = std::shared_ptr<const std::vector<uint32_t>>;

  /// Calls of other functions make or free no group.
  static bool makes_or_frees(uint32_t function);
  /// The rank's next such call. `whole`: the members of the communicator or window that it names.
  void see(const RowAccess &row, const Members &whole);
  [[nodiscard]] Members of(const HandleName &group) const;

 private:
  std::map<HandleName, Members> known_;
};

}  // namespace cairn::analyze
