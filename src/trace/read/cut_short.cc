#include "trace/read/cut_short.h"

#include <algorithm>
#include <vector>

#include "trace/model/losses.h"

namespace cairn::trace {

std::optional<uint64_t> cut_short_ns(const Trace &trace, uint32_t rank) {
  const Trace::RankInfo info = trace.rank_info(rank);
  if (info.complete || info.wall_ns == 0) return std::nullopt;
  const std::vector<Loss> losses = read_losses(info.degraded);
  if (std::any_of(losses.begin(), losses.end(), [](const Loss &loss) { return loss.missing; })) return std::nullopt;
  return trace.place_on_axis(rank).of(info.wall_ns);
}

}  // namespace cairn::trace
