#include "extrapolate/multipartition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "trace/values/atom.h"

namespace cairn::extrapolate {
namespace {

/// Of x, y and the turn; a sweep goes either way.
struct Sum {
  int x;
  int y;
  int turn;
};
constexpr std::array<Sum, 10> kSums = {{{-1, 0, 1},
                                        {-1, 0, -1},
                                        {1, 1, -1},
                                        {1, 1, 1},
                                        {0, 1, -1},
                                        {0, 1, 1},
                                        {1, 0, 1},
                                        {1, 0, -1},
                                        {0, 0, 1},
                                        {0, 0, -1}}};
constexpr std::array<int, 5> kOffsets = {0, 1, -1, 2, -2};
constexpr int64_t kMostWhole = 512;

bool square(const Coordinates &of) { return of.tall.columns == of.tall.rows; }

bool fits(const std::vector<Moment> &moments, const std::vector<int64_t> &values) {
  for (size_t i = 0; i < moments.size(); ++i) {
    if (moments[i].turns[0] == 0 || !square(*moments[i].of) || trace::is_special(values[i])) return false;
  }
  return !moments.empty();
}

/// All coordinates at all points, once.
std::vector<std::vector<int64_t>> all_coordinates(const std::vector<Moment> &moments) {
  std::vector<std::vector<int64_t>> result(cell_coordinates());
  for (size_t c = 0; c < result.size(); ++c) {
    for (const Moment &moment : moments) result[c].push_back(cell_coordinate(c, moment).value_or(0));
  }
  return result;
}

}  // namespace

size_t cell_coordinates() { return kSums.size() * kOffsets.size(); }

std::optional<int64_t> cell_coordinate(size_t number, const Moment &moment) {
  if (moment.turns[0] == 0 || !square(*moment.of)) return std::nullopt;
  const Sum &sum = kSums[number % kSums.size()];
  const Mesh &mesh = moment.of->tall;
  const int64_t value = sum.x * mesh.x + sum.y * mesh.y + sum.turn * moment.turn[0] + kOffsets[number / kSums.size()];
  return ((value % mesh.columns) + mesh.columns) % mesh.columns;
}

std::string cell_coordinate_text(size_t number) {
  const Sum &sum = kSums[number % kSums.size()];
  const auto part = [](int factor, const char *name) {
    return factor == 0 ? std::string() : fmt::format(" {} {}", factor < 0 ? '-' : '+', name);
  };
  return fmt::format("(({}{}{}{:+}) mod columns)", part(sum.x, "x"), part(sum.y, "y"), part(sum.turn, "turn"),
                     kOffsets[number / kSums.size()]);
}

int64_t side_of(Side side, int64_t whole, int64_t parts, int64_t coordinate) {
  const int64_t share = whole / parts + (coordinate < whole % parts ? 1 : 0);
  if (side == Side::greatest) return whole / parts + 1;
  if (side == Side::share) return share;
  return share - (coordinate == 0 ? 1 : 0) - (coordinate + 1 == parts ? 1 : 0);
}

std::optional<Law> cells_law(const std::vector<Moment> &moments, const std::vector<int64_t> &values) {
  if (!fits(moments, values)) return std::nullopt;
  const auto at = all_coordinates(moments);
  for (size_t a = 0; a < at.size(); ++a) {
    for (size_t b = 0; b < at.size(); ++b) {
      const auto part = [&](size_t i) { return moments[i].of->tall.columns * at[a][i] + at[b][i]; };
      const int64_t offset = values[0] - part(0);
      bool right = true;
      for (size_t i = 1; i < values.size() && right; ++i) right = values[i] == part(i) + offset;
      if (!right) continue;
      Law law;
      law.kind = Law::Kind::cells;
      law.offset = static_cast<double>(offset);
      law.first = static_cast<uint16_t>(a);
      law.second = static_cast<uint16_t>(b);
      return law;
    }
  }
  return std::nullopt;
}

int64_t faces_of(size_t faces, int64_t whole, const Mesh &mesh) {
  const int64_t q = mesh.columns;
  const size_t direction = faces / 2;
  const int64_t end = faces % 2 == 0 ? 0 : q - 1;
  int64_t sum = 0;
  for (int64_t c = 0; c < q; ++c) {
    const std::array<int64_t, 3> at = {(mesh.x + c) % q, (mesh.y - c + q) % q, c};
    if (at[direction] == end) continue;
    sum += side_of(Side::share, whole, q, at[(direction + 1) % 3]) *
           side_of(Side::share, whole, q, at[(direction + 2) % 3]);
  }
  return sum;
}

namespace {

/// The whole and the factor for which `part(whole, i)` times the factor is every value. `law` has all else.
template <typename Part>
std::optional<Law> of_a_whole(const std::vector<int64_t> &values, const Part &part, Law law) {
  for (int64_t whole = 1; whole < kMostWhole; ++whole) {
    const int64_t front = part(whole, 0);
    if (front <= 0 || values[0] % front != 0) continue;
    const int64_t factor = values[0] / front;
    bool right = true;
    for (size_t i = values.size(); i-- > 1 && right;) right = values[i] == factor * part(whole, i);
    if (!right) continue;
    law.value = whole;
    law.factor = static_cast<double>(factor);
    return law;
  }
  return std::nullopt;
}

bool are_sizes(const std::vector<Moment> &moments, const std::vector<int64_t> &values) {
  for (size_t i = 0; i < moments.size(); ++i) {
    if (!square(*moments[i].of) || values[i] <= 0) return false;
  }
  return !moments.empty();
}

}  // namespace

std::optional<Law> faces_law(const std::vector<Moment> &moments, const std::vector<int64_t> &values) {
  if (!are_sizes(moments, values)) return std::nullopt;
  for (size_t faces = 0; faces < kFaces; ++faces) {
    Law law;
    law.kind = Law::Kind::faces;
    law.first = static_cast<uint16_t>(faces);
    const auto part = [&](int64_t whole, size_t i) { return faces_of(faces, whole, moments[i].of->tall); };
    if (auto found = of_a_whole(values, part, law)) return found;
  }
  return std::nullopt;
}

std::optional<Law> room_law(const std::vector<Moment> &moments, const std::vector<int64_t> &values) {
  if (!are_sizes(moments, values)) return std::nullopt;
  Law law;
  law.kind = Law::Kind::room;
  return of_a_whole(
      values,
      [&](int64_t whole, size_t i) {
        const int64_t side = side_of(Side::greatest, whole, moments[i].of->tall.columns, 0);
        return side * side;
      },
      law);
}

std::optional<Law> area_law(const std::vector<Moment> &moments, const std::vector<int64_t> &values) {
  if (!fits(moments, values) || !are_sizes(moments, values)) return std::nullopt;
  const auto at = all_coordinates(moments);
  for (const Side side : {Side::share, Side::inner}) {
    for (size_t a = 0; a < at.size(); ++a) {
      for (size_t b = a; b < at.size(); ++b) {
        Law law;
        law.kind = Law::Kind::area;
        law.first = static_cast<uint16_t>(a);
        law.second = static_cast<uint16_t>(b);
        law.offset = static_cast<double>(side);
        const auto part = [&](int64_t whole, size_t i) {
          const int64_t parts = moments[i].of->tall.columns;
          return side_of(side, whole, parts, at[a][i]) * side_of(side, whole, parts, at[b][i]);
        };
        if (auto found = of_a_whole(values, part, law)) return found;
      }
    }
  }
  return std::nullopt;
}

}  // namespace cairn::extrapolate
