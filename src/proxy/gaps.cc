#include "proxy/gaps.h"

#include "timing/mode.h"
#include "trace/read/call_reader.h"
#include "trace/read/call_times.h"
#include "trace/read/class_structure.h"

namespace cairn::proxy {
namespace {

/// All calls of all ranks are alike.
std::vector<double> from_totals(const trace::Trace &trace, const trace::ClassPart &part, uint32_t class_index) {
  double outside = 0;
  for (const uint32_t rank : part.ranks.expand()) {
    const trace::Trace::RankInfo info = trace.rank_info(rank);
    outside += static_cast<double>(info.wall_ns > info.mpi_ns ? info.wall_ns - info.mpi_ns : 0);
  }
  double calls = 0;
  for (const uint64_t count : trace.row_counts(class_index)) calls += static_cast<double>(count);
  return std::vector<double>(part.rows.size(), calls == 0 ? 0 : outside / calls);
}

}  // namespace

Result<std::vector<double>> mean_gaps(const trace::Trace &trace, uint32_t class_index,
                                      const std::function<bool(uint32_t row)> &is_made) {
  const trace::ClassPart &part = trace::class_structure(trace, class_index);
  if (!timing::keeps_times(trace.run().timing)) return from_totals(trace, part, class_index);
  std::vector<double> sums(part.rows.size(), 0);
  for (const uint32_t rank : part.ranks.expand()) {
    for (const trace::SequenceView &sequence : trace.sequences(rank)) {
      if (sequence.class_index != class_index) continue;
      auto times = trace::CallTimes::of(trace, sequence);
      if (!times) return tl::unexpected(times.error());
      trace::CallReader reader(trace, sequence);
      double carried = 0;
      for (uint64_t call = 0; call < times->count(); ++call) {
        const grammar::Symbol number = reader.next();
        if (number == grammar::kNoSymbol) break;
        const auto placed = times->at(call);
        if (!placed) return tl::unexpected(placed.error());
        const uint32_t row = reader.class_row(number);
        if (row >= sums.size() || part.rows[row]->depth != 0) continue;
        carried += static_cast<double>(placed->time.gap);
        if (is_made(row)) {
          sums[row] += carried;
          carried = 0;
        } else {
          carried += static_cast<double>(placed->time.duration);
        }
      }
    }
  }
  const std::vector<uint64_t> times = part.calls->multiplicities();
  for (size_t row = 0; row < sums.size(); ++row) {
    const uint64_t count = row < times.size() ? times[row] * part.ranks.size() : 0;
    sums[row] = count == 0 ? 0 : sums[row] / static_cast<double>(count);
  }
  return sums;
}

}  // namespace cairn::proxy
