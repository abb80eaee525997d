// Strips: the timelines of an open trace, one for each way to tell calls apart, kept as they are asked
// (timeline/strip.h).
//
// Where a window has more calls than may be gone through at once, what is given is coarse: from an overview of the
// whole run (timeline/overview.h), which each question brings forward by as many calls. Borrows the trace. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "reader/block.h"
#include "reader/groups.h"
#include "timeline/overview.h"
#include "timeline/strip.h"
#include "trace/read/trace.h"

namespace cairn::reader {

class Strips {
 public:
  Strips(const trace::Trace &trace, const analyze::Sources &sources, const Groups &groups)
      : trace_(trace), sources_(sources), groups_(groups) {}

  // What reader.h says of reader_strip and reader_drawn.
  Result<Block> strip(timeline::By by, timeline::Wanted wanted);
  Result<Block> drawn(timeline::By by, uint32_t rank, uint32_t thread, uint64_t begin_ns, uint64_t end_ns, size_t most);

 private:
  struct Kept {
    timeline::Kinds kinds;
    std::unique_ptr<timeline::Timeline> timeline;
    timeline::Wanted wanted;  ///< what the overview is of
    std::unique_ptr<timeline::Overview> overview;
    bool complete = false;  ///< the overview is
  };
  Kept &kept(timeline::By by);

  const trace::Trace &trace_;
  const analyze::Sources &sources_;
  const Groups &groups_;
  std::array<std::unique_ptr<Kept>, 3> kept_;
};

}  // namespace cairn::reader
