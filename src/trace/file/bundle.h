// Bundles: classes that found no partner in the lower part of the tree leave it there. Where ranks are irregular, each
// of them is a class of its own, and no rank can hold them all: once the classes of a part take too much, those of
// fewest ranks become a bundle, which the rank that has them writes into the file itself (src/mpi/finish/bundles.h).
//
// A bundle is a block of the section `blocks` that holds a .cairn file of its own: its classes share what they have in
// common, its sites and modules are those that the whole trace has too. Before it stand the least and the greatest rank
// of its classes, so that who wants one rank opens the few bundles that can have it. Classes in different bundles stay
// apart, also where they are alike: that is what it costs.
//
// `Part::take_bundle` makes one (part.h). Reading trusts nothing. Plain functions; cost: the classes', and a few bytes
// for each bundle that is passed over.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "trace/file/block_source.h"
#include "trace/file/wanted_bundles.h"
#include "trace/merge/part_body.h"

namespace cairn::trace {

/// What a bundle's block holds before the file.
struct BundleFront {
  uint32_t least = 0;  ///< rank of its classes
  uint32_t greatest = UINT32_MAX;
  size_t bytes = 0;  ///< of the front itself; 0 if it is damaged: then the bundle may have any ranks
};
constexpr size_t kMostBundleFront = 2 * kMaxVarint + 4;
/// `content`: of the block, or kMostBundleFront bytes of it.
BundleFront bundle_front(ByteView content);

/// Adds the classes of all bundles that are wanted, whose ranks and sites must be known, to the part that they left,
/// and the bytes of their sections to `sizes`, by their names. They begin at `begin` of the blocks and fill the rest.
/// Each adds what it may take of memory to `allowance`.
Result<void> return_bundles(const BlockSource &blocks, uint64_t begin, const WantedBundles &wanted, Part::Body *body,
                            std::map<std::string, uint64_t> *sizes, Allowance *allowance);

}  // namespace cairn::trace
