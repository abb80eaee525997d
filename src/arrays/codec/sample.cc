#include "arrays/codec/sample.h"

#include <algorithm>

namespace cairn::codec {

std::vector<Stretch> sample(ByteView values, const Grid &grid, size_t count, size_t bytes) {
  std::vector<uint64_t> shape(grid.shape.begin(), grid.shape.end());
  if (values.size() <= count * bytes) return {{values, grid.reference, std::move(shape)}};
  // The slowest axis of which one step is no longer than a stretch; the axes before it are passed over.
  size_t axis = 0;
  size_t step = values.size();
  while (axis < shape.size()) {
    step /= static_cast<size_t>(shape[axis]);
    if (step <= bytes) break;
    shape[axis++] = 1;
  }
  if (axis == shape.size()) return {};  // a single element is larger: it is not
  const size_t steps = std::min(bytes / step, static_cast<size_t>(shape[axis]));
  const size_t size = steps * step;
  const size_t extent = static_cast<size_t>(shape[axis]);
  const size_t places = values.size() / step;  // of a step; a stretch must not leave its axis
  shape[axis] = steps;
  std::vector<Stretch> stretches;
  for (size_t i = 0; i < count; ++i) {
    size_t place = (places - steps) * (2 * i + 1) / (2 * count);
    place -= place % extent > extent - steps ? place % extent - (extent - steps) : 0;
    const ByteView reference = grid.reference.empty() ? ByteView{} : grid.reference.subspan(place * step, size);
    stretches.push_back({values.subspan(place * step, size), reference, shape});
  }
  return stretches;
}

}  // namespace cairn::codec
