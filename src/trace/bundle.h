// Bundles: classes that found no partner in the lower part of the tree leave it there. Where ranks are irregular, each
// of them is a class of its own, and no rank can hold them all: once the classes of a part take too much, those of
// fewest ranks become a bundle, which the rank that has them writes into the file itself (src/mpi/bundles.h).
//
// A bundle is a block of the section `blocks` that holds a .cairn file of its own: its classes share what they have in
// common, its sites and modules are those that the whole trace has too, of its ranks it says nothing. Classes in
// different bundles stay apart, also where they are alike: that is what it costs.
//
// `Part::take_bundle` makes one (part.h). Reading trusts nothing. Plain functions; cost: the classes'.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "trace/part_body.h"

namespace cairn::trace {

/// Adds a bundle's classes, whose ranks and sites must all be known, to the part that they left, and the bytes of its
/// sections to `sizes`, by their names. `bundle`: what the block holds.
Result<void> return_bundle(ByteView bundle, Part::Body *body, std::map<std::string, uint64_t> *sizes);

}  // namespace cairn::trace
