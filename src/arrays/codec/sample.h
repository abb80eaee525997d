// A sample of a box: some stretches of its values that are boxes themselves, so that a codec finds in them what it
// finds in the whole.
#pragma once

#include <vector>

#include "arrays/codec/array_codec.h"

namespace cairn::codec {

struct Stretch {
  ByteView values;
  ByteView reference;           ///< of the same place, or empty
  std::vector<uint64_t> shape;  ///< as many extents as the box has
};

/// At most `count` stretches of about `bytes` each, one from every part of the box. One, the whole box, if it is not
/// larger than all of them.
std::vector<Stretch> sample(ByteView values, const Grid &grid, size_t count, size_t bytes);

}  // namespace cairn::codec
