// Alignment: two sequences side by side, so that what stands beside each other is as much alike as can be, and each
// stays in its order (S. Needleman and C. Wunsch, "A general method applicable to the search for similarities", 1970,
// without a price for what stands alone).
//
// Plain functions; any thread. Cost: time and memory in proportion to the product of the lengths.
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

namespace cairn::analyze {

/// Which places of both stand beside each other, in order. `like(i, k)`: how much it is worth that the i-th of the
/// first and the k-th of the second do; 0: they must not. Asked once for each pair, and kept as a Number.
template <typename Number, typename Like>
std::vector<std::pair<size_t, size_t>> aligned(size_t first, size_t second, Like like) {
  // The most that can be had of what follows from there on.
  std::vector<Number> best((first + 1) * (second + 1));
  std::vector<Number> worth(first * second);
  const auto at = [second](size_t i, size_t k) { return i * (second + 1) + k; };
  for (size_t i = first; i-- > 0;) {
    for (size_t k = second; k-- > 0;) {
      const auto here = static_cast<Number>(like(i, k));
      worth[i * second + k] = here;
      best[at(i, k)] =
          std::max({best[at(i + 1, k)], best[at(i, k + 1)], here > 0 ? here + best[at(i + 1, k + 1)] : Number{0}});
    }
  }
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t i = 0, k = 0; i < first && k < second;) {
    const Number here = worth[i * second + k];
    if (here > 0 && best[at(i, k)] == here + best[at(i + 1, k + 1)]) {
      pairs.emplace_back(i++, k++);
    } else if (best[at(i, k)] == best[at(i + 1, k)]) {
      ++i;
    } else {
      ++k;
    }
  }
  return pairs;
}

/// Which part of what is in either is in both; 0 where both are empty.
template <typename Key>
double common_share(const std::set<Key> &one, const std::set<Key> &other) {
  size_t common = 0;
  for (const Key &each : one) common += other.count(each);
  const size_t all = one.size() + other.size() - common;
  return all == 0 ? 0 : static_cast<double>(common) / static_cast<double>(all);
}

}  // namespace cairn::analyze
