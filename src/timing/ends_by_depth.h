// EndsByDepth: which end a call's gap counts from, in a sequence whose calls are told when they end: so one that others
// were nested in, by callbacks that called MPI, comes after these, and began before them.
//
// A call's gap counts from the end of the last call that was no deeper than itself: of the last before all that it
// holds. That never lies after its begin, and what is nested is nobody's business outside.
//
// Plain value, of which zeros are a sequence's begin at 0. O(1) a call that is no deeper than the one before.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace cairn::timing {

template <typename End>
class EndsByDepth {
 public:
  /// Deeper calls count as the deepest of these.
  static constexpr uint32_t kMost = 64;

  /// Of the last call that was no deeper, or where the sequence begins.
  [[nodiscard]] const End &before(uint32_t depth) const { return ends_[std::min(depth, last_)]; }
  /// Of the last call of all.
  [[nodiscard]] const End &last() const { return ends_[last_]; }
  /// How deep that was. The calls that it was nested in have not ended: up to here, ends differ.
  [[nodiscard]] uint32_t last_depth() const { return last_; }

  void ended(uint32_t depth, const End &end) {
    depth = std::min(depth, kMost - 1);
    while (last_ + 1 < depth) {
      ends_[last_ + 1] = ends_[last_];
      ++last_;
    }
    ends_[depth] = end;
    last_ = depth;
  }

 private:
  std::array<End, kMost> ends_ = {};
  uint32_t last_ = 0;
};

}  // namespace cairn::timing
