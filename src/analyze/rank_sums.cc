#include "analyze/rank_sums.h"

#include "trace/read/events.h"

namespace cairn::analyze {

RankSums::RankSums(const trace::Trace &trace)
    : trace_(trace),
      has_times_(timing::keeps_times(trace.run().timing)),
      known_(has_times_ || !trace.summed_functions().empty()) {
  if (known_ || trace.ranks().size() != 1) return;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    const std::vector<trace::Structure::RowHead> rows = trace::structure_of(trace, index).rows;
    for (uint32_t row = 0; row < rows.size(); ++row) {
      if (const auto stats = trace.row_stats(index, row))
        add(trace.ranks().front(), rows[row].function, stats->calls.sum);
    }
  }
  known_ = !own_.empty();
}

std::optional<uint64_t> RankSums::of(uint32_t rank, uint32_t function) const {
  if (own_.empty() && !has_times_) return trace_.function_ns(rank, function);
  const auto own = own_.find(rank);
  if (own == own_.end()) return 0;
  const auto found = own->second.find(function);
  return found == own->second.end() ? 0 : found->second;
}

std::vector<uint32_t> RankSums::functions_of(uint32_t rank) const {
  if (own_.empty()) return trace_.summed_functions();
  std::vector<uint32_t> functions;
  if (const auto own = own_.find(rank); own != own_.end()) {
    for (const auto &[function, sum] : own->second) functions.push_back(function);
  }
  return functions;
}

}  // namespace cairn::analyze
