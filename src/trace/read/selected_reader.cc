#include "trace/read/selected_reader.h"

#include <optional>
#include <utility>
#include <vector>

#include "grammar/prefix_sums.h"
#include "grammar/symbol_count.h"
#include "trace/model/request_arrays.h"
#include "trace/read/rank_rows.h"
#include "trace/read/trace_body.h"

namespace cairn::trace {
struct SelectedReader::State {
  State(const Trace &trace, const ClassPart &part, const SequenceView &sequence, std::vector<bool> chosen)
      : calls_of_class(*part.calls),
        wanted(std::move(chosen)),
        rows(trace, part, sequence),
        order(part.calls->projected([&](uint32_t row) { return wanted[row]; })),
        walker(order) {}

  const grammar::Grammar &calls_of_class;
  std::vector<bool> wanted;
  std::optional<grammar::PrefixSums<grammar::SymbolCount>> index;  ///< once somebody asked
  RankRows rows;
  grammar::Grammar order;
  grammar::Walker walker;
  std::optional<RowCalls> calls;
  uint64_t left = 0;  ///< of equal calls
  Row call;
};

SelectedReader::SelectedReader(const Trace &trace, const SequenceView &sequence, const Chosen &chosen) {
  if (sequence.class_index >= trace.class_count()) return;
  const ClassPart &part = class_part_of(trace, sequence.class_index);
  if (!part.ranks.index_of(sequence.rank)) return;
  const std::vector<Structure::RowHead> heads = structure_of(trace, sequence.class_index).rows;
  std::vector<bool> wanted(heads.size());
  bool any = false;
  for (size_t row = 0; row < heads.size(); ++row) {
    wanted[row] = chosen(heads[row]);
    any = any || wanted[row];
  }
  if (any) state_ = std::make_unique<State>(trace, part, sequence, std::move(wanted));
}

uint64_t SelectedReader::rows_before(uint64_t row) const {
  if (state_ == nullptr) return 0;
  if (!state_->index) state_->index.emplace(state_->calls_of_class, grammar::SymbolCount{state_->wanted});
  return state_->index->before(row);
}

SelectedReader::~SelectedReader() = default;

const Row *SelectedReader::next() {
  if (state_ == nullptr) return nullptr;
  State &state = *state_;
  while (state.left == 0) {
    if (state.calls) {
      if (const std::optional<CallRun> run = state.calls->next()) {
        state.left = run->times;
        state.call = state.rows.complete(*run);
        expand_requests(&state.call);
        continue;
      }
    }
    const grammar::Symbol row = state.walker.next();
    if (row == grammar::kNoSymbol) return nullptr;
    state.calls.emplace(state.rows.calls(row));
  }
  --state.left;
  return &state.call;
}

}  // namespace cairn::trace
