// Draws the gaps of all calls of traces (--timing stats-gaps) as replays do, and prints for each trace how far their
// sums are from what was recorded: of all, of the rank that is furthest off what it was outside MPI, and of the site
// that is furthest off, of those with 2 % of the time.
//
//   drawn_gaps_sums TRACE ...
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "replay/drawn_gaps.h"

namespace {

using cairn::timing::GapStats;
using cairn::trace::Trace;

void tell(const char *name, const Trace &trace) {
  std::map<const GapStats *, double> drawn;  // by site
  double worst_rank = 0;
  for (const uint32_t rank : trace.ranks()) {
    cairn::replay::DrawnGaps gaps(trace, rank);
    double own = 0;
    for (const auto &sequence : trace.sequences(rank)) {
      const std::vector<uint64_t> counts = trace.row_counts(sequence);
      for (uint32_t row = 0; row < counts.size(); ++row) {
        const cairn::trace::Row head = trace.row_head(sequence.class_index, row);
        const GapStats *site = head.depth != 0 ? nullptr : trace.gaps(sequence.class_index, head.site);
        for (uint64_t call = 0; site != nullptr && call < counts[row]; ++call) {
          const auto gap = static_cast<double>(gaps.next(sequence.class_index, head.site));
          drawn[site] += gap;
          own += gap;
        }
      }
    }
    const Trace::RankInfo info = trace.rank_info(rank);
    const auto outside = static_cast<double>(info.wall_ns - std::min(info.wall_ns, info.mpi_ns));
    if (outside > 0) worst_rank = std::max(worst_rank, std::abs(own / outside - 1));
  }
  double sum = 0;
  double recorded = 0;
  for (const auto &[site, own] : drawn) {
    sum += own;
    recorded += static_cast<double>(site->sum);
  }
  double worst_site = 0;
  for (const auto &[site, own] : drawn) {
    const auto there = static_cast<double>(site->sum);
    if (there >= recorded / 50) worst_site = std::max(worst_site, std::abs(own / there - 1));
  }
  std::printf("%s: drawn %.1f %% of recorded; a rank is off by %.0f %% at most, a site by %.0f %%\n", name,
              recorded > 0 ? 100 * sum / recorded : 0, 100 * worst_rank, 100 * worst_site);
}

}  // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    const auto trace = Trace::open(argv[i]);
    if (!trace) return 3;
    tell(argv[i], *trace);
  }
  return argc > 1 ? 0 : 2;
}
