// The collective operations of a matrix as `cairn matrix` tells them.
#pragma once

#include "terminal/listing.h"
#include "traffic/matrix.h"

namespace cairn::cli {

Listing collectives_list(const traffic::Matrix &matrix);

}  // namespace cairn::cli
