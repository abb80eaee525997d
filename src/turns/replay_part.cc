#include "turns/replay_part.h"

#include "turns/left_out.h"

namespace cairn::turns {

Result<PartTold> replay_part(const trace::Trace &trace, const analyze::Messages &messages, const PartAsked &asked,
                             analyze::Arrivals *arrivals) {
  PartTold told;
  analyze::ReplayPart part;
  part.ranks = asked.ranks;
  if (asked.begin_ns) {
    const auto before = LeftOut::of(trace, messages, {asked.ranks, false, asked.begin_ns});
    if (!before) return tl::unexpected(before.error());
    told.before = before->rest();
    if (told.before > asked.most_before) return told;
    part.cuts = before->cuts();
  }
  const auto counts = messages.replay(arrivals, part);
  if (!counts) return tl::unexpected(counts.error());
  told.counts = *counts;
  return told;
}

}  // namespace cairn::turns
