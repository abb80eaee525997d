// The first of equal things, where many are alike in few ways: what all but the first few ranks know is mostly what one
// of these knew. At most 16 that differ are kept and compared, so n things cost at most 16 n comparisons; one that
// differs from all of them stands for itself alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace cairn {

template <typename Thing>
class FirstLike {
 public:
  /// The first for which same(*it, *own) holds, else `own`. `Thing` points to what is compared.
  template <typename Same>
  Thing of(Thing own, const Same &same) {
    constexpr size_t kMostCompared = 16;
    const auto known = std::find_if(met_.begin(), met_.end(), [&](const Thing &other) { return same(*other, *own); });
    if (known != met_.end()) return *known;
    if (met_.size() < kMostCompared) met_.push_back(own);
    return own;
  }

 private:
  std::vector<Thing> met_;
};

}  // namespace cairn
