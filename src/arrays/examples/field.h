// A field of temperatures in Kelvin, in rows of 512 cells: a mean that falls towards the poles, eight smooth waves, and
// normal noise. Made row by row from tables of sines, so that it costs little beside what is done with it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "noise.h"

constexpr long kWidth = 512;         // cells in a row
constexpr long kDrift = 3 * kWidth;  // by which the field moves from one time to the next: none repeats another

/// `values` cells from cell number `first` on.
inline std::vector<float> field(size_t values, size_t first, double noise) {
  constexpr size_t kWaves = 8;
  std::array<std::vector<double>, kWaves> sines;
  std::array<std::vector<double>, kWaves> cosines;
  for (size_t k = 0; k < kWaves; ++k) {
    for (long x = 0; x < kWidth; ++x) {
      const double phase = 2 * M_PI * static_cast<double>(k + 1) * static_cast<double>(x) / kWidth;
      sines[k].push_back(std::sin(phase));
      cosines[k].push_back(std::cos(phase));
    }
  }
  std::vector<float> result(static_cast<size_t>(values));
  for (size_t begin = 0; begin < result.size(); begin += kWidth) {
    const double y = static_cast<double>(first + begin) / kWidth / 256;
    const double level = 288 - 40 * std::sin(M_PI * y) * std::sin(M_PI * y);
    std::array<double, kWaves> a{};
    std::array<double, kWaves> b{};
    for (size_t k = 0; k < kWaves; ++k) {
      const double turn = 2 * M_PI * y * static_cast<double>(k % 3 + 1) + static_cast<double>(k * k);
      a[k] = 4 * std::cos(turn) / static_cast<double>(k + 1);
      b[k] = 4 * std::sin(turn) / static_cast<double>(k + 1);
    }
    const size_t end = std::min<size_t>(begin + kWidth, result.size());
    for (size_t i = begin; i < end; ++i) {
      double kelvin = level;
      for (size_t k = 0; k < kWaves; ++k) kelvin += a[k] * sines[k][i - begin] + b[k] * cosines[k][i - begin];
      result[i] = static_cast<float>(kelvin + noise * normal(static_cast<uint64_t>(first) + i));
    }
  }
  return result;
}
