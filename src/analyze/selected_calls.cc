#include "analyze/selected_calls.h"

#include <algorithm>
#include <utility>

namespace cairn::analyze {

SelectedCalls::SelectedCalls(const trace::Trace &trace, Wanted wanted) : trace_(trace), wanted_(std::move(wanted)) {
  classes_.resize(trace.class_count());
  scopes_.resize(trace.class_count());
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    classes_[index] = has(trace, index, wanted_);
    if (classes_[index]) scopes_[index] = {trace.sites(index), trace.class_view(index).thread};
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
    if (!classes_[sequence.class_index]) continue;
    result.push_back({sequence.class_index, &scopes_[sequence.class_index], in(sequence)});
  }
  return result;
}

std::vector<trace::CountedRow> SelectedCalls::in(const trace::SequenceView &sequence) const {
  if (!classes_[sequence.class_index]) return {};
  std::vector<trace::CountedRow> calls = trace_.counted_rows(sequence);
  std::erase_if(calls, [&](const trace::CountedRow &call) { return !is_wanted(call.row.function); });
  return calls;
}

}  // namespace cairn::analyze
