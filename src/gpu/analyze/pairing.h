// Pairs the items of two lists without changing their order: which of one is which of the other.
//
// What both begin and end with is paired first; what is left, so that the sum of the weights is the greatest (the
// longest common subsequence, with weights), or, where that would take more than kMostCells, item by item. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cairn::analyze {

/// `weight(i, j)`: how well they match, `best` at most; 0: not at all. Gives pairs in order.
template <typename Weight>
std::vector<std::pair<size_t, size_t>> pairing(size_t first, size_t second, uint32_t best, Weight weight) {
  constexpr uint64_t kMostCells = uint64_t{1} << 23;
  std::vector<std::pair<size_t, size_t>> pairs;
  size_t begin = 0;
  while (begin < std::min(first, second) && weight(begin, begin) == best) {
    pairs.emplace_back(begin, begin);
    ++begin;
  }
  size_t tail = 0;
  while (tail < std::min(first, second) - begin && weight(first - tail - 1, second - tail - 1) == best) ++tail;
  const size_t rows = first - tail - begin;
  const size_t columns = second - tail - begin;
  if (uint64_t{rows} * columns > kMostCells) {
    for (size_t i = 0; i < std::min(rows, columns); ++i) {
      if (weight(begin + i, begin + i) != 0) pairs.emplace_back(begin + i, begin + i);
    }
  } else if (rows != 0 && columns != 0) {
    // sums[i][j]: the best of what begins at i and j.
    std::vector<uint32_t> sums((rows + 1) * (columns + 1), 0);
    const auto sum = [&](size_t i, size_t j) -> uint32_t & { return sums[i * (columns + 1) + j]; };
    for (size_t i = rows; i-- > 0;) {
      for (size_t j = columns; j-- > 0;) {
        const uint32_t here = weight(begin + i, begin + j);
        sum(i, j) = std::max({sum(i + 1, j), sum(i, j + 1), here == 0 ? 0 : here + sum(i + 1, j + 1)});
      }
    }
    for (size_t i = 0, j = 0; i < rows && j < columns;) {
      const uint32_t here = weight(begin + i, begin + j);
      if (here != 0 && sum(i, j) == here + sum(i + 1, j + 1)) {
        pairs.emplace_back(begin + i++, begin + j++);
      } else if (sum(i, j) == sum(i + 1, j)) {
        ++i;
      } else {
        ++j;
      }
    }
  }
  for (; tail > 0; --tail) pairs.emplace_back(first - tail, second - tail);
  return pairs;
}

}  // namespace cairn::analyze
