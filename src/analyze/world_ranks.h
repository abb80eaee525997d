// WorldRanks: the ranks in one process's calls, as ranks in MPI_COMM_WORLD.
//
// Ranks in arguments are those of the call's communicator, or of its window's; those in a status, of the communicator
// of the request or message that it tells of. In an intercommunicator they are the other side's. Ranks in groups stay
// as they are: a group is in no communicator.
//
// Fed with the decoded calls of one rank in their order. A rank that the trace cannot translate becomes "3 of
// comm(1@4)".
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "analyze/communicators.h"
#include "analyze/decode.h"

namespace cairn::analyze {

class WorldRanks {
 public:
  /// `communicators` must outlive this.
  WorldRanks(const Communicators &communicators, uint32_t rank) : communicators_(&communicators), rank_(rank) {}

  /// The rank's next call.
  void translate(Call *call);

 private:
  [[nodiscard]] const Value *argument(const Call &call, spec::Kind kind) const;
  void translate(Value *value, const std::string &communicator, Side side) const;
  void translate_statuses(Call *call, const std::string &communicator);
  [[nodiscard]] const std::string &owner(const Value &object) const;

  const Communicators *communicators_;
  uint32_t rank_;
  std::map<std::string, std::string> owners_;  ///< the communicators of requests, windows and messages, by their names
};

}  // namespace cairn::analyze
