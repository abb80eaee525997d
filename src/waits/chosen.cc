// Whose waiting a filter chooses.
#include <algorithm>

#include "analyze/wanted_calls.h"
#include "waits/report.h"

namespace cairn::waits {

bool chooses_victims(const analyze::Filter &filter) {
  return !filter.all_ranks || filter.window.has_value() || filter.chooses_calls();
}

Result<Report> analyse(const trace::Trace &trace, const analyze::Sources &sources, const analyze::Filter &filter) {
  if (!chooses_victims(filter)) return analyse(trace, sources, Victims());
  const analyze::WantedCalls wanted(trace, sources, filter);
  const auto has_rank = [&filter](uint32_t rank) {
    return std::binary_search(filter.ranks.begin(), filter.ranks.end(), rank);
  };
  const auto victims = [&](const analyze::CallTime &call) {
    const auto &window = filter.window;
    return has_rank(call.rank) && wanted.may_want(call.class_index, call.function, call.site) &&
           (!window || window->overlaps(call.begin_ns, call.end_ns));
  };
  auto report = analyse(trace, sources, victims);
  if (!report) return report;
  std::erase_if(report->ranks, [&](const RankLine &line) { return !has_rank(line.rank); });
  return report;
}

}  // namespace cairn::waits
