// Meanings: what names in one rank's calls mean, as far as its calls have said it: communicators and their topologies,
// datatypes, windows, and what persistent requests will move when they are started.
//
// Fed with the calls of which `needs` is true, in their order. A name may be given again when its object is freed; if
// it then means something else, the meanings are not `stable`, and who wants to know must go through the rank's calls
// in their order. Borrows the members. One thread. Memory for the names.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "analyze/communicator_names.h"
#include "analyze/sizes.h"
#include "analyze/topology.h"
#include "traffic/flows.h"
#include "traffic/members.h"

namespace cairn::traffic {

/// A persistent request that was made.
struct Made {
  std::shared_ptr<const Traffic> traffic;  ///< nullptr: nothing will move
  uint32_t class_index = 0;                ///< of the call that made it
  std::shared_ptr<const trace::Row> row;   ///< that call
  bool wanted = true;                      ///< by the values of its arguments
};

class Meanings {
 public:
  Meanings(Members *members, uint32_t rank)
      : members_(members),
        rank_(rank),
        names_(members->trace(), rank),
        sizes_(members->trace().job_of(rank).size),
        topologies_(&members->graphs()) {}

  /// Calls of that function change what names mean.
  static bool needs(uint32_t function);
  /// The rank's next one.
  void see(const trace::Row &row, const analyze::RowScope &scope, uint32_t class_index, const Asking &asking);
  /// What the request of the call that was seen last will move is wanted or not.
  [[nodiscard]] Made *made_last() { return made_last_; }

  [[nodiscard]] bool stable() const { return stable_; }
  /// Changes when a name gets a meaning, but for requests.
  [[nodiscard]] uint64_t version() const { return version_; }

  /// Names of communicators and datatypes mean the same; windows and requests are left aside.
  [[nodiscard]] bool like(const Meanings &other) const {
    return &other == this || (communicators_ == other.communicators_ && sizes_ == other.sizes_);
  }
  /// All of it means the same to both, but that each sees it from its own rank; false where windows or requests have
  /// names.
  [[nodiscard]] bool same_but_for_rank(const Meanings &other) const {
    return like(other) && names_.like(other.names_) && topologies_ == other.topologies_ && only_names_objects() &&
           other.only_names_objects();
  }
  /// Of what is the same to both ranks: what it is to that one.
  void see_from(uint32_t rank) { rank_ = rank; }

  [[nodiscard]] uint32_t rank() const { return rank_; }
  [[nodiscard]] const analyze::CommunicatorNames &names() const { return names_; }
  [[nodiscard]] const analyze::Sizes &sizes() const { return sizes_; }
  [[nodiscard]] const analyze::Topologies &topologies() const { return topologies_; }
  /// nullopt: not known.
  [[nodiscard]] std::optional<Place> communicator(const analyze::HandleName &name) const;
  [[nodiscard]] std::optional<Place> window(const analyze::HandleName &name) const;
  /// nullptr: not known.
  [[nodiscard]] const Made *request(const analyze::HandleName &name) const;

 private:
  [[nodiscard]] bool only_names_objects() const { return windows_.empty() && requests_.empty(); }
  void see_communicator(const trace::Row &row, const analyze::RowAccess &access);
  void see_type(const trace::Row &row, const analyze::RowAccess &access, const analyze::RowScope &scope);
  void see_request(const trace::Row &row, const analyze::RowAccess &access, const analyze::RowScope &scope,
                   uint32_t class_index, const Asking &asking);

  Members *members_;
  uint32_t rank_;
  bool stable_ = true;
  uint64_t version_ = 0;
  analyze::CommunicatorNames names_;
  analyze::Sizes sizes_;
  analyze::Topologies topologies_;
  std::map<int64_t, const analyze::Communicator *> communicators_;  ///< by number
  std::map<analyze::HandleName, std::optional<int64_t>> types_;     ///< as they were made
  std::map<analyze::HandleName, std::optional<Place>> windows_;
  std::map<analyze::HandleName, Made> requests_;
  Made *made_last_ = nullptr;
};

}  // namespace cairn::traffic
