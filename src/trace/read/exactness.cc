#include "trace/read/exactness.h"

#include <vector>

#include "timing/setting.h"
#include "trace/model/losses.h"

namespace cairn::trace {

std::string exactness(const Trace &trace) {
  std::string within = timing::exactness(trace.run().timing);
  const std::vector<uint32_t> ranks = trace.ranks();
  if (!within.empty() || ranks.empty()) return within;
  for (const Loss &loss : read_losses(trace.rank_info(ranks.front()).degraded)) {
    if (loss.reason.starts_with(kOfBoundedTimes)) return loss.reason.substr(kOfBoundedTimes.size());
  }
  return {};
}

}  // namespace cairn::trace
