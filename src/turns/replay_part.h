// replay_part: the messages of some ranks in some time, at the cost of that part.
//
// Only these ranks are gone through, and only the messages among them told. In front of the time turns of loops that
// are all the same are gone past (left_out.h); who listens says when nothing more can come of it
// (Arrivals::has_enough).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/messages.h"
#include "base/result.h"
#include "trace/read/trace.h"

namespace cairn::turns {

struct PartAsked {
  const std::vector<uint32_t> *ranks = nullptr;  ///< ascending; nullptr: all
  std::optional<uint64_t> begin_ns{};            ///< from when on; nothing: from the begin
  uint64_t most_before = UINT64_MAX;             ///< calls in front of it that may have to be gone through
};
struct PartTold {
  analyze::MessageCounts counts;
  uint64_t before = 0;  ///< calls in front of it that were gone through, or would have to be: then nothing was told
};

/// `arrivals` wants no meetings. Of messages from before that time it is told some, and some of them wrongly. Fails as
/// Messages::replay does.
Result<PartTold> replay_part(const trace::Trace &trace, const analyze::Messages &messages, const PartAsked &asked,
                             analyze::Arrivals *arrivals);

}  // namespace cairn::turns
