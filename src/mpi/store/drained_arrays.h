// DrainedArrays: the arrays of requests that MPI_Waitany, Waitsome, Testany and Testsome left behind, for a call that
// finds one of them again to say which one in place of its requests' names (trace/model/request_arrays.h).
//
// One of each sequence, filled and moved just as its reader does it: by what its rows say and by nothing else. Memory
// from the arena, kept for the next array; never throws. `find` compares until the first difference.
#pragma once

#include <cassert>
#include <cstring>
#include <span>

#include "base/arena.h"
#include "base/growable.h"
#include "spec/ids.h"
#include "trace/model/request_arrays.h"

namespace cairn::recorder {

static_assert(trace::kRequestNull == trace::special(trace::kFirstConstant + spec::constant_id::k_REQUEST_NULL));

class DrainedArrays {
 public:
  /// Longer ones are written out each time, and so are single requests, which have nothing to gain.
  static constexpr size_t kLongest = 4096;

  /// Place of the array that looks like this; -1 if none does.
  [[nodiscard]] int find(std::span<const trace::Atom> array) const {
    for (unsigned place = 0; place < count_; ++place) {
      const Growable<trace::Atom> &other = arrays_[place];
      if (other.size() == array.size() && memcmp(other.data(), array.data(), array.size_bytes()) == 0) {
        return static_cast<int>(place);
      }
    }
    return -1;
  }

  /// A copy of `array`, for the call in hand to take from what it completed; empty without memory.
  std::span<trace::Atom> prepare(Arena &arena, std::span<const trace::Atom> array) {
    if (!next_.reserve(arena, array.size())) return {};
    memcpy(next_.data(), array.data(), array.size_bytes());
    next_.resize(array.size());
    return {next_.data(), next_.size()};
  }

  /// What `prepare` made is what the call left of the array at `place`, or, if that is -1, of a new one. `as_it_was`:
  /// the call took nothing from it.
  void leave(int place, bool as_it_was) {
    assert(place < static_cast<int>(count_));
    if (place != 0 || !as_it_was) ++generation_;
    const unsigned last = place >= 0 ? static_cast<unsigned>(place) : count_ < kMost ? count_++ : kMost - 1;
    const Growable<trace::Atom> free = arrays_[last];
    for (unsigned i = last; i > 0; --i) arrays_[i] = arrays_[i - 1];
    arrays_[0] = next_;
    next_ = free;
  }

  /// Another number whenever something changes: while it is the same, so are all arrays and their order.
  [[nodiscard]] uint32_t generation() const { return generation_; }

  void release(Arena &arena) {
    for (Growable<trace::Atom> &array : arrays_) array.release(arena);
    next_.release(arena);
    count_ = 0;
  }

 private:
  static constexpr unsigned kMost = trace::kRememberedArrays;
  Growable<trace::Atom> arrays_[kMost];  ///< most recent first
  Growable<trace::Atom> next_;
  unsigned count_ = 0;
  uint32_t generation_ = 0;
};

}  // namespace cairn::recorder
