// Which bundles of a trace (bundle.h) someone who opens it needs.
#pragma once

#include <cstdint>
#include <functional>

namespace cairn::trace {

/// Which bundles of classes (docs/format.md) are opened: those of whose ranks, the least and the greatest, it is true;
/// all if it is empty. Of those left closed the trace has no classes.
using WantedBundles = std::function<bool(uint32_t least, uint32_t greatest)>;
/// For who wants nothing of classes: the run, its sites, sections.
inline bool no_bundles(uint32_t /*least*/, uint32_t /*greatest*/) { return false; }

}  // namespace cairn::trace
