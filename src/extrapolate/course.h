// Course: the course that all ranks of all runs take, as one program would be written: a nest of loops whose items
// turn, on each rank of each run, so many times, or never. What only some ranks do is an item that the others leave
// out. How often an item turns as a function of the rank and of the number of ranks is then a matter of laws (law.h).
//
// Made of the nests of all distinct sequences, the longest first: each is laid along what there is already so that as
// many calls as possible fall together (longest common subsequence, level by level), and what has no partner comes in.
// Fails where two lists are too long to be compared.
//
// Plain values; one thread. Cost: the product of the lists' lengths at each level, nothing where the forms are equal.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "extrapolate/nest.h"

namespace cairn::extrapolate {

struct CourseItem {
  static constexpr int64_t kNotAsked = -1;  ///< what is around it never turns there
  uint32_t call = Nest::kLoop;
  uint32_t number = 0;               ///< of the course's items
  bool turns = false;                ///< more than once somewhere
  std::vector<CourseItem> body;      ///< of a loop
  std::vector<int64_t> counts = {};  ///< by sequence
  std::vector<Traits> traits = {};   ///< of the sequences that have it, some
  [[nodiscard]] bool is_loop() const { return call == Nest::kLoop; }
};

struct Course {
  std::vector<CourseItem> list;
  uint32_t items = 0;
};

/// What a call of a sequence says besides its kind.
using TraitsOf = std::function<Traits(size_t sequence, size_t place)>;

/// Of the sequences, each as a nest; `runs`: which run each is of. False where they are too long and too different.
bool course_of(std::vector<std::vector<Nest>> sequences, const std::vector<size_t> &runs, const TraitsOf &traits_of,
               Course *course);

}  // namespace cairn::extrapolate
