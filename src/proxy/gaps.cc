#include "proxy/gaps.h"

#include <algorithm>

#include "timing/mode.h"
#include "trace/read/call_reader.h"
#include "trace/read/call_times.h"
#include "trace/read/class_structure.h"

namespace cairn::proxy {
namespace {

/// Shares out what the class's ranks spent outside MPI: by call site where the trace has gaps of sites, else alike.
std::vector<double> from_totals(const trace::Trace &trace, const trace::ClassPart &part, uint32_t class_index) {
  double outside = 0;
  for (const uint32_t rank : part.ranks.expand()) {
    const trace::Trace::RankInfo info = trace.rank_info(rank);
    outside += static_cast<double>(info.wall_ns > info.mpi_ns ? info.wall_ns - info.mpi_ns : 0);
  }
  std::vector<double> means(part.rows.size(), 0);
  bool known = false;
  for (uint32_t row = 0; row < means.size(); ++row) {
    const timing::GapStats *gaps = part.rows[row]->depth != 0 ? nullptr : trace.gaps(class_index, part.rows[row]->site);
    if (gaps == nullptr) continue;
    means[row] = gaps->mean();
    known = true;
  }
  if (!known) std::fill(means.begin(), means.end(), 1);
  const std::vector<uint64_t> counts = trace.row_counts(class_index);
  double shares = 0;
  for (size_t row = 0; row < means.size() && row < counts.size(); ++row) {
    shares += static_cast<double>(counts[row]) * means[row];
  }
  for (double &mean : means) mean = shares == 0 ? 0 : mean * outside / shares;
  return means;
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
