// Intervals: which of many stretches of bytes meet a stretch that is asked for, while more are added.
//
// Sorted arrays of decreasing size, each at least twice as long as the next: what is added is a new array, and is
// merged with the one before while that is too short (the logarithmic method: Bentley, Saxe, "Decomposable Searching
// Problems I", 1980). Each array is read as a balanced tree that knows the furthest end below each node (Cormen et al.,
// "Introduction to Algorithms", interval trees). Cost: adding n one by one takes O(n log^2 n) in all, asking
// O(log^2 n + k log n) for k answers. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::arrays {

struct Interval {
  uint64_t begin = 0;
  uint64_t end = 0;
  size_t number = 0;
};

class Intervals {
 public:
  void clear() { levels_.clear(); }
  void add(std::vector<Interval> added);
  /// Appends the numbers of those that have a byte of [begin, end), in no order.
  void find(uint64_t begin, uint64_t end, std::vector<size_t> *found) const;

 private:
  struct Level {
    std::vector<Interval> sorted;  ///< by begin
    std::vector<uint64_t> reach;   ///< the furthest end in the subtree of each, whose root is its middle
  };
  static uint64_t measure(Level *level, size_t low, size_t high);
  static void find_in(const Level &level, size_t low, size_t high, const Interval &wanted, std::vector<size_t> *found);

  std::vector<Level> levels_;
};

}  // namespace cairn::arrays
