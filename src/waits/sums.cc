// What can be said of waiting without going through calls: whether the trace allows it, and what sums of times tell.
#include <algorithm>

#include "analyze/summary.h"
#include "timing/setting.h"
#include "waits/report.h"

namespace cairn::waits {

Result<void> can_analyse(const trace::Trace &trace, const std::string &asker) {
  if (!timing::keeps_times(trace.run().timing)) {
    return fail(ErrorKind::usage, asker + ": this trace has no times of single calls",
                "record with --timing lossless, or within a bound, as --timing context:rel=1%");
  }
  if (!trace.axis().common()) {
    return fail(ErrorKind::usage, asker + ": this trace does not say how its ranks' clocks stood", "record it again");
  }
  return {};
}

Result<Efficiency> efficiency_of_sums(const trace::Trace &trace, const std::string &asker) {
  if (timing::keeps_nothing(trace.run().timing)) {
    return fail(ErrorKind::usage, asker + ": this trace has no times", "record it without --timing off");
  }
  const analyze::Sources sources(trace, analyze::Sources::Look::in_trace_only);
  auto filter = analyze::make_filter({}, trace, sources);
  if (!filter) return tl::unexpected(filter.error());
  const auto summary =
      analyze::summarise(trace, sources, *filter, analyze::GroupBy::rank, analyze::LineBytes::left_out);
  if (!summary) return tl::unexpected(summary.error());
  Efficiency found;
  for (const analyze::SummaryLine &line : summary->lines) {
    const uint64_t run_ns = line.run_ns - std::min(line.run_ns, line.apart_ns.value_or(0));
    found.run_ns = std::max(found.run_ns, run_ns);
    found.mean_outside_ns += static_cast<double>(line.outside_ns) / static_cast<double>(summary->lines.size());
    if (line.outside_ns > found.most_outside_ns) {
      found.most_outside_ns = line.outside_ns;
      found.most_outside_rank = line.rank;
    }
  }
  return found;
}

}  // namespace cairn::waits
