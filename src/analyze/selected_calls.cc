#include "analyze/selected_calls.h"

#include <algorithm>
#include <utility>

namespace cairn::analyze {

SelectedCalls::SelectedCalls(const trace::Trace &trace, Wanted wanted) : trace_(trace), wanted_(std::move(wanted)) {
  rows_.resize(trace.class_count());
  scopes_.resize(trace.class_count());
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    bool some = false;
    for (const trace::Structure::RowHead &row : trace::structure_of(trace, index).rows) {
      rows_[index].push_back(is_wanted(row.function));
      some = some || rows_[index].back();
    }
    if (!some) rows_[index].clear();
    if (some) scopes_[index] = {trace.sites(index), trace.class_view(index).thread};
  }
}

bool SelectedCalls::has(const trace::Trace &trace, uint32_t class_index, const Wanted &which) {
  const auto all = spec::functions();
  const auto rows = trace::structure_of(trace, class_index).rows;
  return std::any_of(rows.begin(), rows.end(),
                     [&](const auto &row) { return row.function < all.size() && which(all[row.function]); });
}

std::vector<SelectedCalls::Sequence> SelectedCalls::of(uint32_t rank) const {
  std::vector<Sequence> result;
  for (const trace::SequenceView &sequence : trace_.sequences(rank)) {
    if (rows_[sequence.class_index].empty()) continue;
    result.push_back({sequence.class_index, &scopes_[sequence.class_index], in(sequence)});
  }
  return result;
}

std::vector<trace::CountedRow> SelectedCalls::in(const trace::SequenceView &sequence) const {
  if (rows_[sequence.class_index].empty()) return {};
  const std::vector<bool> &rows = rows_[sequence.class_index];
  return trace_.counted_rows(sequence, [&](uint32_t row) { return rows[row]; });
}

}  // namespace cairn::analyze
