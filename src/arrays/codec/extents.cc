#include <algorithm>

#include "arrays/codec/codecs.h"

namespace cairn::codec {

bool fits(size_t bytes, const Grid &grid) {
  size_t size = size_of(grid.element);
  const bool empty = std::find(grid.shape.begin(), grid.shape.end(), 0U) != grid.shape.end();
  for (const uint64_t extent : grid.shape) {
    if (empty) break;
    if (extent > bytes / size) return false;
    size *= static_cast<size_t>(extent);
  }
  return (empty ? 0 : size) == bytes && (grid.reference.empty() || grid.reference.size() == bytes);
}

Extents at_most(size_t count, std::span<const uint64_t> shape) {
  Extents extents;
  for (size_t axis = shape.size(); axis-- > 0;) {  // the fastest first, reversed below
    const auto extent = static_cast<size_t>(shape[axis]);
    if (extent == 1) continue;
    if (extents.count < count) {
      extents.of[extents.count++] = extent;
    } else {
      extents.of[count - 1] *= extent;
    }
  }
  if (extents.count == 0) extents.of[extents.count++] = 1;
  std::reverse(extents.of, extents.of + extents.count);
  return extents;
}

}  // namespace cairn::codec
