// Members: the communicators of a run, and where a process stands in each.
//
// Looking a process up costs O(1) in MPI_COMM_WORLD, else a table of the communicator's members, made when it is first
// asked for: memory for the members of the communicators that calls use. Borrows the communicators. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "analyze/communicators.h"

namespace cairn::traffic {

/// A communicator as one of its members sees it; without a communicator: MPI_COMM_SELF.
struct Place {
  const analyze::Communicator *communicator = nullptr;
  uint32_t rank = 0;   ///< of the process, in MPI_COMM_WORLD
  uint32_t group = 0;  ///< that it is in
  uint32_t own = 0;    ///< its rank there
  uint32_t world = 0;  ///< of MPI_COMM_WORLD its size: there ranks are known whether the trace has them or not
  uint32_t first = 0;  ///< likewise: which rank of the trace is its rank 0
  /// Everybody's ranks are known.
  [[nodiscard]] bool complete() const {
    return communicator == nullptr || world != 0 || (communicator->complete && !communicator->foreign);
  }
  [[nodiscard]] bool is_inter() const { return communicator != nullptr && !communicator->groups[1].empty(); }
  /// How many there are in its own group, and in the one that its messages go to.
  [[nodiscard]] size_t own_size() const;
  [[nodiscard]] size_t peer_size() const;
  /// The rank in MPI_COMM_WORLD of rank `peer`, as a call of this process names it; nullopt: not known.
  [[nodiscard]] std::optional<uint32_t> in_world(int64_t peer) const;
  [[nodiscard]] std::string_view name() const;
};

class Members {
 public:
  Members(const analyze::Communicators &communicators, const trace::Trace &trace)
      : communicators_(&communicators), trace_(&trace) {}
  [[nodiscard]] const trace::Trace &trace() const { return *trace_; }
  /// nullptr: there is none of that name.
  [[nodiscard]] const analyze::Communicator *find(std::string_view name) const { return communicators_->find(name); }
  [[nodiscard]] const analyze::DistGraphs &graphs() const { return communicators_->graphs(); }
  /// That rank's MPI_COMM_WORLD.
  [[nodiscard]] const analyze::Communicator *world(uint32_t rank) const {
    return &communicators_->all()[trace_->job_of(rank).number];
  }
  /// nullopt: nobody knows that the process is in it.
  [[nodiscard]] std::optional<Place> place(const analyze::Communicator *communicator, uint32_t rank);

 private:
  struct InGroup {
    uint32_t group = 0;
    uint32_t own = 0;
  };
  const analyze::Communicators *communicators_;
  const trace::Trace *trace_;
  std::unordered_map<const analyze::Communicator *, std::unordered_map<uint32_t, InGroup>> places_;
};

}  // namespace cairn::traffic
