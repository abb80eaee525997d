// Pictures of a matrix: a square of blocks, senders from top to bottom, receivers from left to right, the darker the
// more, on a logarithmic scale.
//
// SVG has axes and a legend; PNG is the square alone, a square of pixels a block, through libpng. Deterministic: the
// same blocks give the same SVG, byte for byte.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "traffic/matrix.h"

namespace cairn::traffic {

/// `title` stands above it; `unit`: "bytes" or "messages".
std::string svg_of(const Blocks &blocks, uint32_t ranks, const std::string &title, const std::string &unit);
Result<Bytes> png_of(const Blocks &blocks);

}  // namespace cairn::traffic
