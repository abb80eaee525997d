// Slots: what a handle's name in the trace stands for in the replay. A name is where the object was made and which one
// there (analyze::HandleName); a program may make several under one name before it gives the first of them up (two
// MPI_Isend that are done at once get one handle), and look an object up again: they stand in the order in which they
// came, and are used and given up in that order (first in, first out).
//
// One thread at a time (the walkers' lock); a slot stays where it is.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyze/row_access.h"
#include "replay/mpi_side.h"
#include "spec/spec.h"

namespace cairn::replay {

class Slot {
 public:
  void add(Word handle) { held_.push_back(handle); }
  [[nodiscard]] bool empty() const { return held_.empty(); }
  [[nodiscard]] Word first() const { return held_.front(); }
  /// As a call left the first; `null`: it is given up.
  void replace_first(Word handle, Word null);
  /// Of an array, in which a name may stand several times: the next of those held. False: there are no more.
  bool take(Word *handle) {
    if (taken_ == held_.size()) return false;
    *handle = held_[taken_++];
    return true;
  }
  /// As the call left what was taken, in the same order. What was not taken is nothing to give back.
  void give_back(Word handle) {
    if (given_back_ < taken_) held_[given_back_++] = handle;
  }
  /// Once all are back: forgets those that are `null` now.
  void settle(Word null);
  /// A communicator is one at a time, and may be made while the program goes on (MPI_Comm_idup): MPI writes it here.
  Word *place() {
    held_.assign(1, 0);
    return held_.data();
  }

 private:
  std::vector<Word> held_;
  size_t taken_ = 0;
  size_t given_back_ = 0;
};

class Slots {
 public:
  Slot *slot(spec::Kind kind, const analyze::HandleName &name) { return &slots_[{kind, name}]; }

 private:
  std::map<std::pair<spec::Kind, analyze::HandleName>, Slot> slots_;
};

}  // namespace cairn::replay
