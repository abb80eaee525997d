// Other files made of a trace: with sections added or replaced, or as a part to merge more into. The bytes of blocks
// that the trace left in its file (Trace::absent) are absent in what comes of it too, and lie at the same place.
//
// Plain functions; cost: the sections that are kept are copied as they are, a part copies its classes.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "trace/merge/part.h"
#include "trace/read/trace.h"

namespace cairn::trace {

/// The bytes of the same trace.
Bytes as_it_is(const Trace &trace);

/// The bytes of the same trace with a `source` section in place of any that it has (made by src/analyze from DWARF).
Bytes with_sources(const Trace &trace, const std::vector<std::pair<Site, Source>> &sources);

/// The bytes of the same trace with these sections in place of any that it has.
Bytes with_gpu(const Trace &trace, Bytes gpu, Bytes warps);

/// What a Part is made of, for the files of this folder that make others of it.
class Edited {
 public:
  static Part part(std::unique_ptr<Part::Body> body);
};
/// The bytes of the same trace with these corrections of its axis in place of any that it has.
Bytes with_corrections(const Trace &trace, const Corrections &corrections);

/// The part that the file, which must not be damaged, holds, to merge more into it; what comes of it needs this file's
/// blocks, among which bundles of classes begin where `bundles_begin` says.
Part to_part(const Trace &trace);
std::optional<uint64_t> bundles_begin(const Trace &trace);

}  // namespace cairn::trace
