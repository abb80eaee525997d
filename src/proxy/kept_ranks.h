// Which ranks of a trace a program has, if not all, and what that does to its communicators: who is which rank of each
// among those that stay, and what is lost, counted.
//
// Cost: all calls of the ranks that stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/sources.h"
#include "base/result.h"
#include "trace/read/trace.h"

namespace cairn::proxy {

class KeptRanks {
 public:
  /// A usage error if there is no such rank, or none stays.
  static Result<KeptRanks> of(const trace::Trace &trace, const analyze::Sources &sources,
                              const std::vector<uint32_t> &left_out);

  /// Ascending, those of the recording.
  [[nodiscard]] const std::vector<uint32_t> &ranks() const { return ranks_; }
  [[nodiscard]] bool has(uint32_t rank) const { return rank < kept_.size() && kept_[rank]; }
  /// By the number of a communicator's members: for each rank there the one among those that stay, or -1.
  [[nodiscard]] const std::vector<std::vector<int64_t>> &members() const { return members_; }
  /// The number of the members of what that atom names on a rank; nothing: that is not known, or changes.
  [[nodiscard]] std::optional<size_t> members_of(uint32_t rank, trace::Atom comm) const;
  /// The smallest rank of MPI_COMM_WORLD that it has there, and which rank of it the rank is: what MPI_Comm_split may
  /// make it by.
  [[nodiscard]] std::optional<std::pair<int64_t, int64_t>> place(uint32_t rank, trace::Atom comm) const;

  /// Calls of the ranks that stay.
  struct Losses {
    uint64_t partners = 0;   ///< messages to and from those that do not
    uint64_t roots = 0;      ///< collectives, that one of them was the root of
    uint64_t smaller = 0;    ///< other collectives that one of them took part in
    uint64_t questions = 0;  ///< about topologies
    uint64_t anybody = 0;    ///< receives from anybody
  };
  [[nodiscard]] const Losses &losses() const { return losses_; }

 private:
  Result<void> look_at(const trace::Trace &trace, const analyze::Sources &sources);
  size_t number_of(const std::vector<uint32_t> &in_world);
  void count(const trace::Row &row, const std::map<int64_t, size_t> &now);

  std::vector<uint32_t> ranks_;
  std::vector<bool> kept_;
  std::vector<std::vector<int64_t>> members_;
  std::vector<std::vector<uint32_t>> in_world_;  ///< of each of them
  std::map<std::pair<uint32_t, int64_t>, std::set<size_t>> numbers_;
  Losses losses_;
};

/// Whether a call only asks about a topology, or makes one; programs that have not all ranks have none.
bool asks_topology(std::string_view function);
bool makes_topology(std::string_view function);

}  // namespace cairn::proxy
