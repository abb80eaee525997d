// CommunicatorNames: what one rank's communicators are called, so that a name means one communicator in the whole run,
// on all of its members.
//
// A trace gives each living communicator of a rank a small number, which the next may have when it is freed. What tells
// communicators apart is who made them (spec/README.md, "Communicators"): "comm(1@4)" is the one whose smallest rank in
// MPI_COMM_WORLD is 4, of those that creation number 1 over MPI_COMM_WORLD made; "comm(1@4.0@6)" is made in the same
// way over that one. Over MPI_COMM_SELF: "comm(self.0@3)". What only some of the parent's processes made together is
// called after its function, its tag, and who is in it: "comm(Comm_create_group 7: 0@4 of 3 by 2)", ranks 4, 6 and 8.
// Of a parent whose own name is long there is a hash: "comm(#00c0ffee00c0ffee.0@4)".
//
// Fed with the rank's calls in their order. Plain value; `see` costs a look at a table for calls that make none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spec/spec.h"
#include "trace/model/record.h"

namespace cairn::analyze {

/// A communicator that a call made, as the rank that called sees it.
struct NewCommunicator {
  std::string name;
  uint32_t function = 0;
  std::string parent;           ///< the name of that which it was made over; "" if there is none
  std::optional<int64_t> rank;  ///< this process's in its group there; nullopt: the trace does not know
  bool second = false;          ///< on the side of an intercommunicator that has not the smallest rank
};

class CommunicatorNames {
 public:
  /// Calls of other functions make no communicator.
  static bool makes_some(uint32_t function);

  /// The rank's next call. What it made; nullptr if it made none. Valid until the next call of this.
  const NewCommunicator *see(const trace::Row &row);
  /// The numbers of what a call made and of what it was made over, where that has one; nullopt: it made none.
  struct Numbers {
    int64_t made = 0;
    std::optional<int64_t> over;
  };
  static std::optional<Numbers> numbers(const trace::Row &row);
  /// Of the communicator with that number now; nullptr if nobody saw it made.
  [[nodiscard]] const std::string *name(int64_t number) const;
  /// Changes when a name does.
  [[nodiscard]] uint64_t version() const { return version_; }

 private:
  std::map<int64_t, std::string> names_;
  uint64_t version_ = 1;
  NewCommunicator made_;
};

}  // namespace cairn::analyze
