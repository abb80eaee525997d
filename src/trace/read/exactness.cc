#include "trace/read/exactness.h"

#include <vector>

#include "timing/setting.h"
#include "trace/model/losses.h"
#include "trace/read/call_times.h"

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

timing::StreamSize times_size(const Trace &trace) {
  timing::StreamSize size = trace.run().merge.times.size;
  if (size.calls != 0 || !timing::keeps_times(trace.run().timing)) return size;
  for (const uint32_t rank : trace.ranks()) {
    for (const SequenceView &sequence : trace.sequences(rank)) {
      const auto times = CallTimes::of(trace, sequence);
      if (times) size.add(times->size());  // else cairn verify tells
    }
  }
  return size;
}

}  // namespace cairn::trace
