// Multipartition: q² ranks each have q cells of a cube, so that in each stage of a sweep every rank has one cell to
// work on (Naik 1995; BT and SP of the NAS benchmarks). Rank (x, y) has in stage n the cells whose coordinates are sums
// of x, y and n modulo q; what it sends is told by these coordinates: a tag numbers the cell, a size is the area of a
// face, with or without the boundary of the whole, of cells that do not come out even.
//
// `cells_law` and `area_law` find these in values that differ from turn to turn, the other two in those of a rank.
// Plain functions; cost: some thousand combinations times the points until one disagrees.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "extrapolate/law.h"

namespace cairn::extrapolate {

/// The coordinates that a cell may have: numbers below `cell_coordinates`. Nothing where there are no turns, or the
/// ranks are no square.
size_t cell_coordinates();
std::optional<int64_t> cell_coordinate(size_t number, const Moment &moment);
std::string cell_coordinate_text(size_t number);

/// What area laws may mean by the side of a cell.
enum class Side : uint8_t {
  share,     ///< of the cell: the whole, dealt out
  inner,     ///< without the boundary of the whole
  greatest,  ///< room for any cell: the whole divided, and one
};
int64_t side_of(Side side, int64_t whole, int64_t parts, int64_t coordinate);

/// Of all cells of a rank but those at one end of the cube, the areas of the faces there, together: 2 * direction +
/// end.
constexpr size_t kFaces = 6;
int64_t faces_of(size_t faces, int64_t whole, const Mesh &mesh);

std::optional<Law> faces_law(const std::vector<Moment> &moments, const std::vector<int64_t> &values);
/// What has the size of the greatest cell, on all ranks.
std::optional<Law> room_law(const std::vector<Moment> &moments, const std::vector<int64_t> &values);
std::optional<Law> cells_law(const std::vector<Moment> &moments, const std::vector<int64_t> &values);
std::optional<Law> area_law(const std::vector<Moment> &moments, const std::vector<int64_t> &values);

}  // namespace cairn::extrapolate
