#include "analyze/selected_calls.h"

#include <algorithm>
#include <utility>

namespace cairn::analyze {

SelectedCalls::SelectedCalls(const trace::Trace &trace, Wanted wanted) : trace_(trace), wanted_(std::move(wanted)) {}

const SelectedCalls::OfClass &SelectedCalls::of_class(uint32_t index) const {
  const auto [known, fresh] = classes_.try_emplace(index);
  OfClass &of = known->second;
  if (!fresh) return of;
  bool some = false;
  for (const trace::Structure::RowHead &row : trace::structure_of(trace_, index).rows) {
    of.rows.push_back(is_wanted(row.function));
    some = some || of.rows.back();
  }
  if (!some) of.rows.clear();
  if (some) of.scope = {trace_.sites(index), trace_.class_thread(index)};
  return of;
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
    const OfClass &of = of_class(sequence.class_index);
    if (!of.rows.empty()) result.push_back({sequence.class_index, &of.scope, in(sequence)});
  }
  return result;
}

std::vector<trace::CountedRow> SelectedCalls::in(const trace::SequenceView &sequence) const {
  const std::vector<bool> &rows = of_class(sequence.class_index).rows;
  if (rows.empty()) return {};
  return trace_.counted_rows(sequence, [&](uint32_t row) { return rows[row]; });
}

}  // namespace cairn::analyze
