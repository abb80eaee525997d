// Corners that cells share, as unstructured grids hold them: for tests and benchmarks of codecs.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::codec {

/// Of a grid of cells whose corners lie on a curved field, row by row.
struct MadeUpCorners {
  std::vector<double> cells;      ///< four a cell
  std::vector<double> triangles;  ///< two triangles a cell, three each
  std::vector<int32_t> numbers;   ///< of the triangles' corners

  MadeUpCorners(size_t rows, size_t columns) {
    const auto corner = [](size_t j, size_t i) {
      const auto y = static_cast<double>(j);
      const auto x = static_cast<double>(i);
      return 50 * std::sin(y * 0.004) + 8 * std::cos(x * 0.007 + y * 0.002) + 0.01 * x;
    };
    for (size_t j = 0; j < rows; ++j) {
      for (size_t i = 0; i < columns; ++i) {
        const size_t of_cell[4][2] = {{j, i}, {j, i + 1}, {j + 1, i + 1}, {j + 1, i}};
        for (const auto &[row, column] : of_cell) cells.push_back(corner(row, column));
        for (const size_t k : {0, 1, 3, 1, 2, 3}) {
          const auto &[row, column] = of_cell[k];
          triangles.push_back(corner(row, column));
          numbers.push_back(static_cast<int32_t>(row * (columns + 1) + column));
        }
      }
    }
  }
};

}  // namespace cairn::codec
