#include "extrapolate/terms.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace cairn::extrapolate {
namespace {

using M = Moment;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

int64_t wrapped(int64_t value, int64_t size) { return ((value % size) + size) % size; }

int64_t rank(const M &m) { return m.of->rank; }
int64_t ranks(const M &m) { return m.of->ranks; }
const Mesh &tall(const M &m) { return m.of->tall; }
const Mesh &wide(const M &m) { return m.of->wide; }
const Box &box(const M &m) { return m.of->box; }

/// A neighbour in a mesh that is a torus.
double beside(const Mesh &mesh, int64_t dx, int64_t dy) {
  return number(wrapped(mesh.y + dy, mesh.rows) * mesh.columns + wrapped(mesh.x + dx, mesh.columns));
}
double beside(const Box &box, size_t dimension, int64_t by) {
  std::array<int64_t, 3> at = box.at;
  at[dimension] = wrapped(at[dimension] + by, box.sides[dimension]);
  return number((at[2] * box.sides[1] + at[1]) * box.sides[0] + at[0]);
}
int ends(int64_t at, int64_t size) { return (at > 0 ? 1 : 0) + (at + 1 < size ? 1 : 0); }

template <size_t L>
double turn(const M &m) {
  return m.turns[L] == 0 ? kNone : number(m.turn[L]);
}
template <size_t L>
double turns(const M &m) {
  return m.turns[L] == 0 ? kNone : number(m.turns[L]);
}
/// 2 to the turn; nothing that a loop of steps could mean.
template <size_t L>
int64_t power(const M &m) {
  return m.turns[L] == 0 || m.turn[L] > 40 ? 0 : int64_t{1} << m.turn[L];
}
/// Of `size`, a power of two: its half, its quarter, … turn by turn.
int64_t halved(const M &m, int64_t size) { return m.turns[0] == 0 || m.turn[0] > 40 ? 0 : size >> (m.turn[0] + 1); }
double with_bit(const M &m, int64_t bit) { return bit == 0 ? kNone : number(rank(m) ^ bit); }
double inverse(int64_t value) { return value == 0 ? kNone : 1.0 / number(value); }
int64_t lowest_bit(int64_t value) { return value & -value; }
/// Bits below the lowest one of the rank: how often a binomial tree has it receive.
int64_t trailing(const M &m) {
  int64_t bits = 0;
  while (bits < m.of->levels && (rank(m) >> bits & 1) == 0) ++bits;
  return bits;
}
/// How often a side's processes can be halved, those with even numbers staying, until this one drops out or there is
/// but one: of number 0, all of log2 times.
int64_t halvings(int64_t at, int64_t side) {
  int64_t times = 0;
  while ((int64_t{1} << times) < side && (at >> times & 1) == 0) ++times;
  return times;
}
/// Until it drops out on some side, or the shortest has but one; sides of one are none.
int64_t halvings(const Box &box) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (size_t d = 0; d < 3; ++d) {
    if (box.sides[d] > 1) least = std::min(least, halvings(box.at[d], box.sides[d]));
  }
  return least == std::numeric_limits<int64_t>::max() ? 0 : least;
}
int64_t halvings(const Mesh &mesh) { return halvings(Box{{1, mesh.columns, mesh.rows}, {0, mesh.x, mesh.y}}); }
/// The same where the last ones stay: in a grid whose cells are dealt out so that the last of several ranks has the
/// one.
Mesh mirrored(const Mesh &mesh) { return {mesh.columns, mesh.rows, mesh.columns - 1 - mesh.x, mesh.rows - 1 - mesh.y}; }
Box mirrored(Box box) {
  for (size_t d = 0; d < 3; ++d) box.at[d] = box.sides[d] - 1 - box.at[d];
  return box;
}
/// 2 to the turns that come after this one: where levels are gone through backwards.
int64_t power_left(const M &m) {
  const int32_t left = m.turns[0] - 1 - m.turn[0];
  return m.turns[0] == 0 || left < 0 || left > 40 ? 0 : int64_t{1} << left;
}
double times(int64_t size, int64_t power) { return power == 0 ? kNone : number(size * power); }
/// What is left of `size` after so many halvings.
double power_of(int64_t exponent) { return exponent > 60 ? kNone : number(int64_t{1} << exponent); }

constexpr Term kTerms[] = {
    {"rank", 1, true, [](const M &m) { return number(rank(m)); }},
    {"ranks", 1, true, [](const M &m) { return number(ranks(m)); }},
    {"scale", 2, true, [](const M &m) { return number(m.of->scale); }},
    {"turn", 1, true, turn<0>},
    {"element", 1, true, [](const M &m) { return m.elements == 0 ? kNone : number(m.element); }},
    {"x", 2, true, [](const M &m) { return number(tall(m).x); }},
    {"y", 2, true, [](const M &m) { return number(tall(m).y); }},
    {"columns", 2, true, [](const M &m) { return number(tall(m).columns); }},
    {"rows", 2, true, [](const M &m) { return number(tall(m).rows); }},
    {"log2(ranks)", 2, true, [](const M &m) { return number(m.of->levels); }},
    {"1/ranks", 2, true, [](const M &m) { return inverse(ranks(m)); }},
    {"1/columns", 2, true, [](const M &m) { return inverse(tall(m).columns); }},
    {"1/rows", 2, true, [](const M &m) { return inverse(tall(m).rows); }},
    {"1/scale", 3, true, [](const M &m) { return inverse(m.of->scale); }},
    {"rank - x", 2, true, [](const M &m) { return number(rank(m) - tall(m).x); }},
    {"(rank + 1) mod ranks", 3, false, [](const M &m) { return number(wrapped(rank(m) + 1, ranks(m))); }},
    {"(rank - 1) mod ranks", 3, false, [](const M &m) { return number(wrapped(rank(m) - 1, ranks(m))); }},
    {"east", 3, false, [](const M &m) { return beside(tall(m), 1, 0); }},
    {"west", 3, false, [](const M &m) { return beside(tall(m), -1, 0); }},
    {"south", 3, false, [](const M &m) { return beside(tall(m), 0, 1); }},
    {"north", 3, false, [](const M &m) { return beside(tall(m), 0, -1); }},
    {"south-east", 4, false, [](const M &m) { return beside(tall(m), 1, 1); }},
    {"south-west", 4, false, [](const M &m) { return beside(tall(m), -1, 1); }},
    {"north-east", 4, false, [](const M &m) { return beside(tall(m), 1, -1); }},
    {"north-west", 4, false, [](const M &m) { return beside(tall(m), -1, -1); }},
    {"transposed", 4, false, [](const M &m) { return number(tall(m).x * tall(m).rows + tall(m).y); }},
    {"x + 1 mod columns", 4, false, [](const M &m) { return number(wrapped(tall(m).x + 1, tall(m).columns)); }},
    {"x - 1 mod columns", 4, false, [](const M &m) { return number(wrapped(tall(m).x - 1, tall(m).columns)); }},
    {"y + 1 mod rows", 4, false, [](const M &m) { return number(wrapped(tall(m).y + 1, tall(m).rows)); }},
    {"y - 1 mod rows", 4, false, [](const M &m) { return number(wrapped(tall(m).y - 1, tall(m).rows)); }},
    {"has west", 3, true, [](const M &m) { return tall(m).x > 0 ? 1.0 : 0.0; }},
    {"has east", 3, true, [](const M &m) { return tall(m).x + 1 < tall(m).columns ? 1.0 : 0.0; }},
    {"has north", 3, true, [](const M &m) { return tall(m).y > 0 ? 1.0 : 0.0; }},
    {"has south", 3, true, [](const M &m) { return tall(m).y + 1 < tall(m).rows ? 1.0 : 0.0; }},
    {"neighbours on a line", 4, true, [](const M &m) { return number(ends(rank(m), ranks(m))); }},
    {"neighbours in a mesh",
     4,
     true,
     [](const M &m) { return number(ends(tall(m).x, tall(m).columns) + ends(tall(m).y, tall(m).rows)); }},
    {"neighbours in a box",
     4,
     true,
     [](const M &m) {
       const Box &b = box(m);
       return number(ends(b.at[0], b.sides[0]) + ends(b.at[1], b.sides[1]) + ends(b.at[2], b.sides[2]));
     }},
    {"x'", 4, true, [](const M &m) { return number(wide(m).x); }},
    {"y'", 4, true, [](const M &m) { return number(wide(m).y); }},
    {"rank - x'", 4, true, [](const M &m) { return number(rank(m) - wide(m).x); }},
    {"east'", 4, false, [](const M &m) { return beside(wide(m), 1, 0); }},
    {"west'", 4, false, [](const M &m) { return beside(wide(m), -1, 0); }},
    {"south'", 4, false, [](const M &m) { return beside(wide(m), 0, 1); }},
    {"north'", 4, false, [](const M &m) { return beside(wide(m), 0, -1); }},
    {"side 0", 4, true, [](const M &m) { return number(box(m).sides[0]); }},
    {"side 1", 4, true, [](const M &m) { return number(box(m).sides[1]); }},
    {"side 2", 4, true, [](const M &m) { return number(box(m).sides[2]); }},
    {"1/side 0", 4, true, [](const M &m) { return inverse(box(m).sides[0]); }},
    {"1/side 1", 4, true, [](const M &m) { return inverse(box(m).sides[1]); }},
    {"1/side 2", 4, true, [](const M &m) { return inverse(box(m).sides[2]); }},
    {"side 0 * side 1", 4, true, [](const M &m) { return number(box(m).sides[0] * box(m).sides[1]); }},
    {"1/(side 0 * side 1)", 5, true, [](const M &m) { return inverse(box(m).sides[0] * box(m).sides[1]); }},
    {"1/(side 0 * side 2)", 5, true, [](const M &m) { return inverse(box(m).sides[0] * box(m).sides[2]); }},
    {"1/(side 1 * side 2)", 5, true, [](const M &m) { return inverse(box(m).sides[1] * box(m).sides[2]); }},
    {"at 0", 4, true, [](const M &m) { return number(box(m).at[0]); }},
    {"at 1", 4, true, [](const M &m) { return number(box(m).at[1]); }},
    {"at 2", 4, true, [](const M &m) { return number(box(m).at[2]); }},
    {"up 0", 4, false, [](const M &m) { return beside(box(m), 0, 1); }},
    {"down 0", 4, false, [](const M &m) { return beside(box(m), 0, -1); }},
    {"up 1", 4, false, [](const M &m) { return beside(box(m), 1, 1); }},
    {"down 1", 4, false, [](const M &m) { return beside(box(m), 1, -1); }},
    {"up 2", 4, false, [](const M &m) { return beside(box(m), 2, 1); }},
    {"down 2", 4, false, [](const M &m) { return beside(box(m), 2, -1); }},
    {"rank ^ 1", 4, false, [](const M &m) { return number(rank(m) ^ 1); }},
    {"2^turn", 3, true, [](const M &m) { return power<0>(m) == 0 ? kNone : number(power<0>(m)); }},
    {"rank ^ 2^turn", 3, false, [](const M &m) { return with_bit(m, power<0>(m)); }},
    {"rank ^ columns/2^(turn+1)", 4, false, [](const M &m) { return with_bit(m, halved(m, tall(m).columns)); }},
    {"rank ^ columns'/2^(turn+1)", 5, false, [](const M &m) { return with_bit(m, halved(m, wide(m).columns)); }},
    {"rank ^ ranks/2^(turn+1)", 4, false, [](const M &m) { return with_bit(m, halved(m, ranks(m))); }},
    {"rank ^ columns*2^turn", 5, false, [](const M &m) { return with_bit(m, tall(m).columns * power<0>(m)); }},
    {"rank ^ (turn + 1)",
     4,
     false,
     [](const M &m) { return m.turns[0] == 0 ? kNone : number(rank(m) ^ (m.turn[0] + 1)); }},
    {"(rank + 2^turn) mod ranks",
     4,
     false,
     [](const M &m) { return power<0>(m) == 0 ? kNone : number(wrapped(rank(m) + power<0>(m), ranks(m))); }},
    {"(rank - 2^turn) mod ranks",
     4,
     false,
     [](const M &m) { return power<0>(m) == 0 ? kNone : number(wrapped(rank(m) - power<0>(m), ranks(m))); }},
    {"(rank + turn + 1) mod ranks",
     4,
     false,
     [](const M &m) { return m.turns[0] == 0 ? kNone : number(wrapped(rank(m) + m.turn[0] + 1, ranks(m))); }},
    {"(rank - turn - 1) mod ranks",
     4,
     false,
     [](const M &m) { return m.turns[0] == 0 ? kNone : number(wrapped(rank(m) - m.turn[0] - 1, ranks(m))); }},
    {"(rank + turn) mod ranks",
     5,
     false,
     [](const M &m) { return m.turns[0] == 0 ? kNone : number(wrapped(rank(m) + m.turn[0], ranks(m))); }},
    {"(x + turn) mod columns",
     8,
     true,
     [](const M &m) { return m.turns[0] == 0 ? kNone : number(wrapped(tall(m).x + m.turn[0], tall(m).columns)); }},
    {"(x - turn) mod columns",
     8,
     true,
     [](const M &m) { return m.turns[0] == 0 ? kNone : number(wrapped(tall(m).x - m.turn[0], tall(m).columns)); }},
    {"(y + turn) mod rows",
     8,
     true,
     [](const M &m) { return m.turns[0] == 0 ? kNone : number(wrapped(tall(m).y + m.turn[0], tall(m).rows)); }},
    {"(y - turn) mod rows",
     8,
     true,
     [](const M &m) { return m.turns[0] == 0 ? kNone : number(wrapped(tall(m).y - m.turn[0], tall(m).rows)); }},
    {"turn mod log2(ranks)",
     5,
     true,
     [](const M &m) { return m.turns[0] == 0 || m.of->levels == 0 ? kNone : number(m.turn[0] % m.of->levels); }},
    {"rank ^ 2^(turn mod log2(ranks))",
     5,
     false,
     [](const M &m) {
       return m.turns[0] == 0 || m.of->levels == 0 ? kNone : with_bit(m, int64_t{1} << (m.turn[0] % m.of->levels));
     }},
    {"turns", 4, true, turns<0>},
    {"halvings of the mesh", 8, true, [](const M &m) { return number(halvings(tall(m))); }},
    {"halvings of the mesh from its end", 9, true, [](const M &m) { return number(halvings(mirrored(tall(m)))); }},
    {"halvings of the box", 9, true, [](const M &m) { return number(halvings(box(m))); }},
    {"halvings of the box from its end", 10, true, [](const M &m) { return number(halvings(mirrored(box(m)))); }},
    {"columns*2^turn", 7, true, [](const M &m) { return times(tall(m).columns, power<0>(m)); }},
    {"side 0 * 2^turn", 8, true, [](const M &m) { return times(box(m).sides[0], power<0>(m)); }},
    {"side 0 * side 1 * 2^turn",
     8,
     true,
     [](const M &m) { return times(box(m).sides[0] * box(m).sides[1], power<0>(m)); }},
    {"2^(turns - 1 - turn)", 8, true, [](const M &m) { return times(1, power_left(m)); }},
    {"columns*2^(turns - 1 - turn)", 9, true, [](const M &m) { return times(tall(m).columns, power_left(m)); }},
    {"side 0 * 2^(turns - 1 - turn)", 9, true, [](const M &m) { return times(box(m).sides[0], power_left(m)); }},
    {"side 0 * side 1 * 2^(turns - 1 - turn)",
     10,
     true,
     [](const M &m) { return times(box(m).sides[0] * box(m).sides[1], power_left(m)); }},
    {"turn of the second loop", 3, true, turn<1>},
    {"turn of the third loop", 4, true, turn<2>},
    {"2^(turn of the second loop)", 5, true, [](const M &m) { return power<1>(m) == 0 ? kNone : number(power<1>(m)); }},
    {"rank ^ 2^(turn of the second loop)", 5, false, [](const M &m) { return with_bit(m, power<1>(m)); }},
    {"elements", 4, true, [](const M &m) { return m.elements == 0 ? kNone : number(m.elements); }},
    {"rank ^ ranks/2", 5, false, [](const M &m) { return with_bit(m, ranks(m) / 2); }},
    {"(rank + ranks/2) mod ranks", 5, false, [](const M &m) { return number(wrapped(rank(m) + ranks(m) / 2, ranks(m))); }},
    {"ranks - 1 - rank", 4, false, [](const M &m) { return number(ranks(m) - 1 - rank(m)); }},
    {"(rank - 1)/2", 4, false, [](const M &m) { return rank(m) == 0 ? kNone : number((rank(m) - 1) / 2); }},
    {"rank/2", 5, false, [](const M &m) { return number(rank(m) / 2); }},
    {"rank mod 2", 5, true, [](const M &m) { return number(rank(m) % 2); }},
    {"rank without its lowest bit", 5, false, [](const M &m) { return number(rank(m) - lowest_bit(rank(m))); }},
    {"zero bits at the rank's end", 5, true, [](const M &m) { return number(trailing(m)); }},
    {"2^(zero bits at the rank's end)", 6, false, [](const M &m) { return power_of(trailing(m)); }},
    {"log2(columns)", 3, true, [](const M &m) { return std::log2(number(tall(m).columns)); }},
    {"log2(rows)", 3, true, [](const M &m) { return std::log2(number(tall(m).rows)); }},
    {"ranks^2", 6, false, [](const M &m) { return number(ranks(m) * ranks(m)); }},
    {"1/ranks^2", 6, false, [](const M &m) { return inverse(ranks(m) * ranks(m)); }},
    {"rank * ranks", 6, false, [](const M &m) { return number(ranks(m) * rank(m)); }},
    {"rank/ranks", 6, false, [](const M &m) { return number(rank(m)) / number(ranks(m)); }},
    {"x/columns", 6, false, [](const M &m) { return number(tall(m).x) / number(tall(m).columns); }},
    {"y/rows", 6, false, [](const M &m) { return number(tall(m).y) / number(tall(m).rows); }},
    {"element/elements", 6, false, [](const M &m) { return m.elements == 0 ? kNone : number(m.element) / m.elements; }},
    {"columns/2^turn", 6, false, [](const M &m) { return power<0>(m) == 0 ? kNone : number(tall(m).columns) / number(power<0>(m)); }},
    {"1/2^turn", 6, false, [](const M &m) { return power<0>(m) == 0 ? kNone : inverse(power<0>(m)); }},
    {"2^turn/columns", 6, false, [](const M &m) { return power<0>(m) == 0 ? kNone : number(power<0>(m)) / number(tall(m).columns); }},
};

constexpr Predicate kPredicates[] = {
    {"rank = 0", 1, [](const M &m) { return rank(m) == 0; }},
    {"rank = ranks - 1", 1, [](const M &m) { return rank(m) + 1 == ranks(m); }},
    {"x = 0", 2, [](const M &m) { return tall(m).x == 0; }},
    {"x = columns - 1", 2, [](const M &m) { return tall(m).x + 1 == tall(m).columns; }},
    {"y = 0", 2, [](const M &m) { return tall(m).y == 0; }},
    {"y = rows - 1", 2, [](const M &m) { return tall(m).y + 1 == tall(m).rows; }},
    {"turn = 0", 2, [](const M &m) { return m.turns[0] != 0 && m.turn[0] == 0; }},
    {"turn = turns - 1", 2, [](const M &m) { return m.turns[0] != 0 && m.turn[0] + 1 == m.turns[0]; }},
    {"element = 0", 2, [](const M &m) { return m.elements != 0 && m.element == 0; }},
    {"element = rank", 2, [](const M &m) { return m.elements != 0 && m.element == rank(m); }},
    {"turn of the second loop = 0", 3, [](const M &m) { return m.turns[1] != 0 && m.turn[1] == 0; }},
    {"rank is odd", 3, [](const M &m) { return rank(m) % 2 == 1; }},
    {"x is odd", 3, [](const M &m) { return tall(m).x % 2 == 1; }},
    {"y is odd", 3, [](const M &m) { return tall(m).y % 2 == 1; }},
    {"x = y", 3, [](const M &m) { return tall(m).x == tall(m).y; }},
    {"x < y", 3, [](const M &m) { return tall(m).x < tall(m).y; }},
    {"at 0 = 0", 4, [](const M &m) { return box(m).at[0] == 0; }},
    {"at 0 = side 0 - 1", 4, [](const M &m) { return box(m).at[0] + 1 == box(m).sides[0]; }},
    {"at 1 = 0", 4, [](const M &m) { return box(m).at[1] == 0; }},
    {"at 1 = side 1 - 1", 4, [](const M &m) { return box(m).at[1] + 1 == box(m).sides[1]; }},
    {"at 2 = 0", 4, [](const M &m) { return box(m).at[2] == 0; }},
    {"at 2 = side 2 - 1", 4, [](const M &m) { return box(m).at[2] + 1 == box(m).sides[2]; }},
    {"x' = 0", 4, [](const M &m) { return wide(m).x == 0; }},
    {"x' = columns' - 1", 4, [](const M &m) { return wide(m).x + 1 == wide(m).columns; }},
    {"y' = 0", 4, [](const M &m) { return wide(m).y == 0; }},
    {"y' = rows' - 1", 4, [](const M &m) { return wide(m).y + 1 == wide(m).rows; }},
    {"2 * rank + 1 < ranks", 3, [](const M &m) { return 2 * rank(m) + 1 < ranks(m); }},
    {"2 * rank + 2 < ranks", 3, [](const M &m) { return 2 * rank(m) + 2 < ranks(m); }},
    {"rank < ranks/2", 4, [](const M &m) { return 2 * rank(m) < ranks(m); }},
    {"rank has bit 2^turn", 4, [](const M &m) { return (rank(m) & power<0>(m)) != 0; }},
    {"rank < 2^turn", 4, [](const M &m) { return m.turns[0] != 0 && rank(m) < power<0>(m); }},
    {"turn is odd", 4, [](const M &m) { return m.turns[0] != 0 && m.turn[0] % 2 == 1; }},
    {"element = elements - 1", 4, [](const M &m) { return m.elements != 0 && m.element + 1 == m.elements; }},
    {"element < rank", 4, [](const M &m) { return m.elements != 0 && m.element < rank(m); }},
    {"rank = 1", 4, [](const M &m) { return rank(m) == 1; }},
    {"x + 2^turn < columns", 5,
     [](const M &m) { return m.turns[0] != 0 && tall(m).x + power<0>(m) < tall(m).columns; }},
    {"y + 2^turn < rows", 5, [](const M &m) { return m.turns[0] != 0 && tall(m).y + power<0>(m) < tall(m).rows; }},
    {"rank + 2^turn < ranks", 5, [](const M &m) { return m.turns[0] != 0 && rank(m) + power<0>(m) < ranks(m); }},
    {"at 0 + 2^turn < side 0", 6,
     [](const M &m) { return m.turns[0] != 0 && box(m).at[0] + power<0>(m) < box(m).sides[0]; }},
    {"at 1 + 2^turn < side 1", 6,
     [](const M &m) { return m.turns[0] != 0 && box(m).at[1] + power<0>(m) < box(m).sides[1]; }},
    {"at 2 + 2^turn < side 2", 6,
     [](const M &m) { return m.turns[0] != 0 && box(m).at[2] + power<0>(m) < box(m).sides[2]; }},
    {"x + 2^(turns - 1 - turn) < columns", 6,
     [](const M &m) { return m.turns[0] != 0 && tall(m).x + power_left(m) < tall(m).columns; }},
    {"y + 2^(turns - 1 - turn) < rows", 6,
     [](const M &m) { return m.turns[0] != 0 && tall(m).y + power_left(m) < tall(m).rows; }},
    {"rank + 2^(turns - 1 - turn) < ranks", 6,
     [](const M &m) { return m.turns[0] != 0 && rank(m) + power_left(m) < ranks(m); }},
    {"at 0 + 2^(turns - 1 - turn) < side 0", 7,
     [](const M &m) { return m.turns[0] != 0 && box(m).at[0] + power_left(m) < box(m).sides[0]; }},
    {"at 1 + 2^(turns - 1 - turn) < side 1", 7,
     [](const M &m) { return m.turns[0] != 0 && box(m).at[1] + power_left(m) < box(m).sides[1]; }},
    {"at 2 + 2^(turns - 1 - turn) < side 2", 7,
     [](const M &m) { return m.turns[0] != 0 && box(m).at[2] + power_left(m) < box(m).sides[2]; }},
    {"turn < rank", 4, [](const M &m) { return m.turns[0] != 0 && m.turn[0] < rank(m); }},
};

constexpr Division kDivisions[] = {
    {"columns", [](const Coordinates &of) { return of.tall.columns; }, [](const Coordinates &of) { return of.tall.x; }},
    {"rows", [](const Coordinates &of) { return of.tall.rows; }, [](const Coordinates &of) { return of.tall.y; }},
    {"ranks", [](const Coordinates &of) { return of.ranks; }, [](const Coordinates &of) { return of.rank; }},
    {"columns'", [](const Coordinates &of) { return of.wide.columns; },
     [](const Coordinates &of) { return of.wide.x; }},
    {"rows'", [](const Coordinates &of) { return of.wide.rows; }, [](const Coordinates &of) { return of.wide.y; }},
    {"side 0", [](const Coordinates &of) { return of.box.sides[0]; },
     [](const Coordinates &of) { return of.box.at[0]; }},
    {"side 1", [](const Coordinates &of) { return of.box.sides[1]; },
     [](const Coordinates &of) { return of.box.at[1]; }},
    {"side 2", [](const Coordinates &of) { return of.box.sides[2]; },
     [](const Coordinates &of) { return of.box.at[2]; }},
};

/// What changes where nothing but one loop's turn does, asked of a few ranks.
template <typename Value>
uint8_t loops_of(const Value &value) {
  uint8_t loops = 0;
  for (const auto &[rank, ranks] : {std::pair(5U, 16U), std::pair(0U, 16U), std::pair(21U, 64U), std::pair(15U, 16U)}) {
    const Coordinates of = Coordinates::of(rank, ranks, ranks);
    for (size_t l = 0; l < Moment::kLoops; ++l) {
      Moment moment;
      moment.of = &of;
      moment.turns = {4, 4, 4};
      const auto first = value(moment);
      for (int turn = 1; turn < 4; ++turn) {
        moment.turn[l] = turn;
        if (value(moment) != first) loops |= static_cast<uint8_t>(1U << l);
      }
    }
  }
  return loops;
}

}  // namespace

std::span<const Term> terms() { return kTerms; }
std::span<const Predicate> predicates() { return kPredicates; }
std::span<const Division> divisions() { return kDivisions; }

uint8_t loops_of_term(size_t term) { return loops_of(kTerms[term].at); }
uint8_t loops_of_predicate(size_t predicate) { return loops_of(kPredicates[predicate].holds); }

}  // namespace cairn::extrapolate
