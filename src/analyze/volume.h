// Bytes moved by one call, from its arguments alone: elements times the size of their datatype.
//
// A send counts what it sends; a receive, and what reads a file, what came where the call's own status says so, else
// the room it posts; Sendrecv both, one-sided and file calls what they transfer; a collective what this rank puts in,
// or, where it puts in nothing (Bcast and Scatter off the root), what it gets. A persistent request moves its bytes
// when it is started. Calls that move nothing have no volume.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "analyze/sizes.h"

namespace cairn::analyze {

/// The operation behind a function's variants: "Allreduce" for MPI_Iallreduce_c and MPI_Allreduce_init.
const std::string &operation(const spec::Function &function);

struct Volume {
  bool moves = false;            ///< this kind of call moves bytes
  std::optional<int64_t> bytes;  ///< nullopt: a size is not known
};

class Volumes {
 public:
  /// How large the communicators are that a rank has, where its own calls do not say.
  struct Members {
    const CommunicatorSizes &sizes;
    uint32_t rank;
  };
  /// `calls`: one rank's, those of which `needs` says so among them; not kept. `world_size`: of its MPI_COMM_WORLD.
  Volumes(uint32_t world_size, const std::vector<SelectedCalls::Sequence> &calls,
          const std::optional<Members> &members = std::nullopt);

  [[nodiscard]] Volume of(const trace::Row &row, const RowScope &scope) const;
  /// What that persistent request moves whenever it is started.
  [[nodiscard]] std::optional<int64_t> request(const HandleName &name) const;
  /// Calls of other functions need not be asked.
  static bool may_move(const spec::Function &function);
  /// How many processes some communicator has is not known.
  [[nodiscard]] bool lacks_members() const { return sizes_.lacks_members(); }
  /// Calls that move as much to each member of a communicator, so that its size must be known.
  static bool asks_members(const spec::Function &function);
  /// Functions whose calls this class must know to answer.
  static bool needs(const spec::Function &function);
  /// Every call has the same volume.
  bool operator==(const Volumes &) const = default;

 private:
  [[nodiscard]] std::optional<int64_t> payload(const RowAccess &row) const;
  [[nodiscard]] std::optional<int64_t> started(const RowAccess &row) const;

  Sizes sizes_;
  /// Persistent requests by name; nullopt where several of one name differ.
  std::map<HandleName, std::optional<int64_t>> persistent_;
};

/// How many bytes each call of one rank moves, whatever sequence it is of.
class RankVolumes {
 public:
  /// `selected`: the calls of which Volumes::needs says so.
  RankVolumes(const trace::Trace &trace, const SelectedCalls &selected, uint32_t rank);
  [[nodiscard]] Volume of(uint32_t class_index, const trace::Row &row) const;

 private:
  Volumes volumes_;
  std::unordered_map<uint32_t, RowScope> scopes_;  ///< by class
};

}  // namespace cairn::analyze
