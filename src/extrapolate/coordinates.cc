#include "extrapolate/coordinates.h"

namespace cairn::extrapolate {
namespace {

Mesh mesh_of(int64_t rank, int64_t columns, int64_t ranks) {
  return {columns, ranks / columns, rank % columns, rank / columns};
}

}  // namespace

std::array<int64_t, 2> two_sides(int64_t ranks) {
  int64_t side = 1;
  for (int64_t d = 1; d * d <= ranks; ++d) {
    if (ranks % d == 0) side = d;
  }
  return {side, ranks / side};
}

std::array<int64_t, 3> three_sides(int64_t ranks) {
  std::array<int64_t, 3> best{1, 1, ranks};
  for (int64_t d = 1; d * d * d <= ranks; ++d) {
    if (ranks % d != 0) continue;
    // Of those with the longest side shortest, the one whose other sides are most equal.
    for (int64_t e = d; d * e * e <= ranks; ++e) {
      if (ranks / d % e != 0) continue;
      const int64_t longest = ranks / d / e;
      if (longest < best[2] || (longest == best[2] && e - d < best[1] - best[0])) best = {d, e, longest};
    }
  }
  return best;
}

Coordinates Coordinates::of(uint32_t rank, uint32_t ranks, int64_t scale) {
  Coordinates result;
  result.ranks = ranks;
  result.rank = rank;
  result.scale = scale;
  while ((int64_t{2} << result.levels) <= result.ranks) ++result.levels;
  const auto two = two_sides(ranks);
  result.tall = mesh_of(rank, two[0], ranks);
  result.wide = mesh_of(rank, two[1], ranks);
  result.box.sides = three_sides(ranks);
  int64_t left = rank;
  for (std::size_t d = 0; d < 3; ++d) {
    result.box.at[d] = left % result.box.sides[d];
    left /= result.box.sides[d];
  }
  return result;
}

}  // namespace cairn::extrapolate
