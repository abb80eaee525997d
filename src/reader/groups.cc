#include "reader/groups.h"

#include <algorithm>

#include "base/in_order.h"
#include "base/saturating.h"
#include "timing/mode.h"
#include "trace/read/events.h"

namespace cairn::reader {

Groups::Groups(const trace::Trace &trace, const analyze::Sources &sources) {
  // Function, module and offset, how its callers look, depth: an unrolled loop calls from several places of one line.
  using Key = std::tuple<uint32_t, std::string, uint64_t, std::string, uint32_t>;
  std::map<Key, uint32_t> numbers;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    const std::vector<trace::Structure::RowHead> rows = trace::structure_of(trace, index).rows;
    const std::vector<uint64_t> counts = trace.row_counts(index);
    std::vector<uint32_t> &own = by_class_.emplace_back();
    for (size_t row = 0; row < rows.size(); ++row) {
      const trace::Structure::RowHead &head = rows[row];
      Group group{head.function, sources.position(index, head.site), sources.callers(index, head.site), head.depth};
      std::string callers;
      for (const analyze::Position &caller : group.callers) callers += caller.text() + '\n';
      const Key key{group.function, group.position.module, group.position.offset, callers, group.depth};
      const auto [found, added] = numbers.try_emplace(key, static_cast<uint32_t>(groups_.size()));
      if (added) groups_.push_back(std::move(group));
      add_to(&groups_[found->second].calls, counts[row]);
      own.push_back(found->second);
    }
  }
}

namespace {

void add_statistics(const trace::Trace &trace, const Groups &groups, std::vector<timing::CallStats> *sums) {
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    const uint32_t rows = trace.class_view(index).rows;
    for (uint32_t row = 0; row < rows; ++row) {
      if (const auto stats = trace.row_stats(index, row)) (*sums)[groups.of(index, row)].merge(stats->calls);
    }
  }
}

struct OfRank {
  std::vector<GroupDurations> sums;
  std::vector<timing::Durations> durations;
};

Result<OfRank> durations_of_rank(const trace::Trace &trace, const Groups &groups, uint32_t rank) {
  OfRank found{std::vector<GroupDurations>(groups.all().size()), std::vector<timing::Durations>(groups.all().size())};
  for (const trace::SequenceView &sequence : trace.sequences(rank)) {
    trace::Events events(trace, sequence);
    while (const trace::Event *event = events.next()) {
      if (event->damaged) continue;
      if (!event->timed) break;  // the rest of a sequence that was cut short
      const uint32_t group = groups.of(event->class_index, event->row);
      GroupDurations &sum = found.sums[group];
      sum.least_ns = sum.calls == 0 ? event->duration_ns : std::min(sum.least_ns, event->duration_ns);
      sum.greatest_ns = std::max(sum.greatest_ns, event->duration_ns);
      add_to(&sum.total_ns, event->duration_ns);
      ++sum.calls;
      found.durations[group].add(event->duration_ns);
    }
    if (auto end = events.end_of_calls(); !end) return tl::unexpected(end.error());
  }
  return found;
}

Result<std::vector<GroupDurations>> from_times(const trace::Trace &trace, const Groups &groups) {
  std::vector<GroupDurations> sums(groups.all().size());
  std::vector<timing::Durations> durations(groups.all().size());
  const std::vector<uint32_t> ranks = trace.ranks();
  Result<void> done;
  in_order(
      ranks.size(), [&](size_t i) { return durations_of_rank(trace, groups, ranks[i]); },
      [&](size_t, const Result<OfRank> &found) {
        if (!found) {
          done = tl::unexpected(found.error());
          return false;
        }
        for (size_t group = 0; group < sums.size(); ++group) {
          const GroupDurations &own = found->sums[group];
          GroupDurations &sum = sums[group];
          if (own.calls == 0) continue;
          sum.least_ns = sum.calls == 0 ? own.least_ns : std::min(sum.least_ns, own.least_ns);
          sum.greatest_ns = std::max(sum.greatest_ns, own.greatest_ns);
          add_to(&sum.total_ns, own.total_ns);
          sum.calls += own.calls;
          durations[group].merge(found->durations[group]);
        }
        return true;
      });
  if (!done) return tl::unexpected(done.error());
  for (size_t group = 0; group < sums.size(); ++group) sums[group].percentiles = durations[group].percentiles();
  return sums;
}

}  // namespace

Result<std::vector<GroupDurations>> durations_of(const trace::Trace &trace, const Groups &groups) {
  const std::string &timing = trace.run().timing;
  if (timing::keeps_nothing(timing)) return std::vector<GroupDurations>();
  if (timing::keeps_times(timing)) return from_times(trace, groups);
  std::vector<timing::CallStats> stats(groups.all().size());
  add_statistics(trace, groups, &stats);
  std::vector<GroupDurations> sums;
  sums.reserve(stats.size());
  for (const timing::CallStats &each : stats) {
    sums.push_back({each.count, each.sum, each.minimum, each.maximum, timing::percentiles_of(each)});
  }
  return sums;
}

}  // namespace cairn::reader
