// Coordinates: where a rank lies among so many, in each topology that programs are built on: a line, meshes of two and
// three dimensions whose sides are as equal as they can be (MPI_Dims_create; the grids of the NAS benchmarks), a
// hypercube. What a trace of few ranks says of a rank is learned as a function of these, and a trace of many ranks is
// made by asking the same function (ScalaExtrap finds the sides of one mesh from its corners: Wu & Mueller 2011,
// "ScalaExtrap", section 3; here all topologies stand side by side, and what explains the values decides).
//
// Plain values, no state. Cost: the square root of the ranks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cairn::extrapolate {

/// Of a mesh of two dimensions; x runs fastest: rank = y * columns + x.
struct Mesh {
  int64_t columns = 1;
  int64_t rows = 1;
  int64_t x = 0;
  int64_t y = 0;
};

/// Of a mesh of three; at[0] runs fastest.
struct Box {
  std::array<int64_t, 3> sides{1, 1, 1};
  std::array<int64_t, 3> at{};
};

struct Coordinates {
  int64_t ranks = 1;
  int64_t rank = 0;
  int64_t scale = 1;   ///< what the runs differ in: the ranks, or what the user gave (steps, sizes)
  int64_t levels = 0;  ///< log2 of the ranks, rounded down
  Mesh tall;           ///< columns <= rows: the fastest side is the shortest, as MPI_Cart_create has it
  Mesh wide;           ///< columns >= rows
  Box box;             ///< sides ascend

  static Coordinates of(uint32_t rank, uint32_t ranks, int64_t scale);
};

/// Sides of a mesh of so many ranks, ascending: the most equal ones.
std::array<int64_t, 2> two_sides(int64_t ranks);
std::array<int64_t, 3> three_sides(int64_t ranks);

}  // namespace cairn::extrapolate
