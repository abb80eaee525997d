#include "scale/grid.h"

#include <algorithm>
#include <cmath>

namespace cairn::scale {

uint32_t square_root(uint32_t value) {
  auto root = static_cast<uint64_t>(std::sqrt(static_cast<double>(value)));
  while (root * root > value) --root;
  while ((root + 1) * (root + 1) <= value) ++root;
  return static_cast<uint32_t>(root);
}

Grid Grid::of(uint32_t ranks, uint32_t dimensions) {
  std::vector<uint32_t> sides;
  uint32_t rest = ranks;
  for (uint32_t d = dimensions; d > 1; --d) {
    auto side = static_cast<uint32_t>(std::pow(static_cast<double>(rest), 1.0 / d) + 1e-9);
    while (rest % side != 0) --side;
    sides.push_back(side);
    rest /= side;
  }
  sides.push_back(rest);
  std::sort(sides.rbegin(), sides.rend());
  return Grid(std::move(sides));
}

uint64_t Grid::size() const {
  uint64_t size = 1;
  for (const uint32_t side : sides_) size *= side;
  return size;
}

Grid::Offset Grid::coordinates(uint32_t rank) const {
  Offset at{};
  for (uint32_t d = dimensions(); d-- > 0;) {
    at[d] = rank % sides_[d];
    rank /= sides_[d];
  }
  return at;
}

uint32_t Grid::rank(const Offset &at) const {
  uint64_t rank = 0;
  for (uint32_t d = 0; d < dimensions(); ++d) rank = rank * sides_[d] + static_cast<uint64_t>(at[d]);
  return static_cast<uint32_t>(rank);
}

Atom Grid::neighbour(uint32_t rank, const Offset &offset, bool periodic) const {
  Offset at = coordinates(rank);
  for (uint32_t d = 0; d < dimensions(); ++d) {
    const int64_t side = sides_[d];
    at[d] += offset[d];
    if (at[d] >= 0 && at[d] < side) continue;
    if (!periodic) return kProcNull;
    at[d] = ((at[d] % side) + side) % side;
  }
  return this->rank(at);
}

}  // namespace cairn::scale
