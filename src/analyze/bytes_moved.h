// BytesMoved: how many bytes the calls of a run move (volume.h), by rank, function and site, as far as a filter wants
// them.
//
// A receive moves what came. Of one that is complete at once its own status says so; of a nonblocking or persistent one
// the status of MPI_Wait and its like, which is told to the line of the call that posted it. Where the program ignored
// the status, or nobody waited, what came is taken to fill the room.
//
// Calls are told apart by what says how much they move, and nothing else (trace/read/partial_rows.h): a loop of a
// million turns is counted on the grammar. All calls are gone through, in their order, of ranks where the status of
// MPI_Wait and its like says that less came than there was room for, and of all that are looked at where communicators
// are chosen by name (calls_on.h).
//
// Borrows all it is given. One thread. Cost: the distinct calls so told apart, memory for what creates datatypes and
// communicators.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "analyze/calls_on.h"
#include "analyze/filter.h"
#include "analyze/selected_calls.h"
#include "analyze/volume.h"
#include "analyze/wanted_calls.h"

namespace cairn::analyze {

/// Calls of ranks that made the same ones.
struct Moved {
  std::span<const uint32_t> ranks;  ///< until the visit ends
  uint32_t class_index = 0;
  uint32_t function = 0;
  uint32_t site = 0;       ///< of the class
  uint64_t bytes = 0;      ///< of each rank, of those whose size is known
  uint64_t unsized = 0;    ///< how many of each rank's are of no known size
  bool withdrawn = false;  ///< the numbers are to be taken off: they were given before, and less came
};

class BytesMoved {
 public:
  /// `on`: where communicators are chosen by name, else nullptr.
  BytesMoved(const trace::Trace &trace, const Filter &filter, const WantedCalls &wanted, CallsOn *on);
  /// Fails where calls cannot be read.
  Result<void> each(const std::function<void(const Moved &)> &visit);

 private:
  [[nodiscard]] const Volumes &volumes(uint32_t rank) const;
  Result<void> by_communicators(uint32_t rank, const std::function<void(const Moved &)> &visit);
  void by_class(uint32_t index, const std::function<void(const Moved &)> &visit);
  void find_shortfalls(uint32_t index);
  /// Whose `ranks` are empty.
  [[nodiscard]] Result<std::vector<Moved>> shortfalls(uint32_t rank) const;

  const trace::Trace &trace_;
  const Filter &filter_;
  const WantedCalls &wanted_;
  CallsOn *on_;
  std::vector<RowScope> scopes_;  ///< by class, of those of the filter's ranks
  std::vector<bool> chosen_;      ///< by rank
  std::vector<bool> fell_short_;  ///< by rank: some status says that less came
  /// By rank; nullptr for those that made nothing. Ranks that made the same share one.
  std::vector<std::shared_ptr<const Volumes>> volumes_;
  std::vector<Volumes> plain_;  ///< by job, of those that made nothing
};

}  // namespace cairn::analyze
