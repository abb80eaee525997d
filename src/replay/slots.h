// Slots: what a handle's name in the trace stands for in the replay. A name is where the object was made and which one
// there (analyze::HandleName); a program may make several under one name before it gives the first of them up (two
// MPI_Isend that are done at once get one handle), and look an object up again: they stand in the order in which they
// came, and are used and given up in that order (first in, first out).
//
// Where there are several threads, one may take a name while another still gives it up: a thread uses what it made
// itself, if there is such, before what others made.
//
// One thread at a time (the job's lock); a slot stays where it is, and so do the handles in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "analyze/row_access.h"
#include "replay/mpi_side.h"
#include "spec/spec.h"

namespace cairn::replay {

class Slot {
 public:
  void add(Word handle, uint32_t thread) { held_.push_back({handle, thread}); }
  /// What a call gave of an object that need not be new, and is not to be given up once more (MPI_Comm_f2c).
  void know(Word handle, uint32_t thread);
  [[nodiscard]] bool empty() const { return held_.empty(); }
  /// Of a request that stays when it is complete.
  bool persistent = false;
  /// What a call on that thread means; there must be one.
  [[nodiscard]] Word use(uint32_t thread) const { return held_[place_of(thread)].handle; }
  /// As a call left that; `null`: it is given up.
  void replace(uint32_t thread, Word handle, Word null);
  /// Gives it up.
  void drop(uint32_t thread);
  /// Of an array, in which a name may stand several times: the next of those held, which is no longer. False: there are
  /// no more.
  bool take(uint32_t thread, Word *handle);
  /// What a call left there: the last one first.
  void give_back(uint32_t thread, Word handle) { held_.push_front({handle, thread}); }
  /// For one that MPI gives while the program goes on (MPI_Comm_idup): it writes it here.
  Word *place(uint32_t thread) { return &held_.emplace_back(Held{0, thread}).handle; }

 private:
  struct Held {
    Word handle;
    uint32_t thread;  ///< that made it
  };
  /// There must be one.
  [[nodiscard]] size_t place_of(uint32_t thread) const;

  std::deque<Held> held_;
};

class Slots {
 public:
  Slot *slot(spec::Kind kind, const analyze::HandleName &name) { return &slots_[{kind, name}]; }

  /// Another language's handle of that kind: the number that MPI gave for it in the recording, and the one it gave now.
  void tell_number(spec::Kind kind, int64_t recorded, Word now) { numbers_[{kind, recorded}] = now; }
  /// What stands for it now; one that MPI never gave is the same in every run.
  [[nodiscard]] Word number(spec::Kind kind, int64_t recorded) const {
    const auto found = numbers_.find({kind, recorded});
    return found == numbers_.end() ? static_cast<Word>(recorded) : found->second;
  }

 private:
  std::map<std::pair<spec::Kind, int64_t>, Word> numbers_;
  std::map<std::pair<spec::Kind, analyze::HandleName>, Slot> slots_;
};

}  // namespace cairn::replay
