// Classes of two parts find their partners and are merged (class_merge.h); what a part holds between two merges.
//
// Classes without a partner stay packed; where they are more than a few, those to come are compressed, since they find
// one many steps on, if at all. Only those that are merged are opened, one pair at a time. What one merge takes is so
// in proportion to the bytes of both sides, and what it takes beside them to the largest pair. A part whose classes are
// small keeps them // open, since a pair that is merged at every level would be packed and opened at every level.
#pragma once

#include <cstddef>

#include "trace/merge/part_body.h"

namespace cairn::trace {

/// Bytes of all packed classes that a part does not compress.
constexpr size_t kMostPlain = size_t{16} << 10;

/// Adds right's classes, whose sites are numbered as left's, to left's.
Result<void> merge_classes(Part::Body *left, Part::Body *right);

/// Packs classes if together they take much memory.
void settle(Part::Body *body);

}  // namespace cairn::trace
