// RankClasses: which classes a rank is a member of. Where ranks are irregular, nearly every rank is a class of its own,
// and asking each class for each rank would take the square of their number.
//
// Of the classes that it was made of, which must not change. Concurrent const use is fine. Cost of a question: the
// rank's own classes, and a look-up in each class with many members, of which there are few.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "trace/model/class_part.h"

namespace cairn::trace {

class RankClasses {
 public:
  RankClasses() = default;
  explicit RankClasses(const std::vector<ClassPart> &classes);

  struct Place {
    uint32_t class_index = 0;
    uint64_t member = 0;  ///< the rank's place among the members
  };
  /// Ascending by class. `classes`: those that it was made of.
  [[nodiscard]] std::vector<Place> of(uint32_t rank, const std::vector<ClassPart> &classes) const;

 private:
  std::vector<std::pair<uint32_t, uint32_t>> few_;  ///< (rank, class) of each member of small classes, ascending
  std::vector<uint32_t> many_;                      ///< the other classes
};

}  // namespace cairn::trace
