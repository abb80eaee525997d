#include "trace/read/selected_reader.h"

#include <optional>
#include <utility>
#include <vector>

#include "grammar/prefix_sums.h"
#include "trace/model/request_arrays.h"
#include "trace/read/rank_rows.h"
#include "trace/read/trace_body.h"

namespace cairn::trace {
namespace {

/// How many of the rows are wanted.
struct WantedSums {
  using Sum = uint64_t;
  using Kept = uint64_t;
  const std::vector<bool> *wanted;
  static Sum nothing() { return 0; }
  void add(Sum *sum, grammar::Symbol row, uint64_t times) const { *sum += (*wanted)[row] ? times : 0; }
  static void add(Sum *sum, const Kept &rule, uint64_t times) { *sum += rule * times; }
  static Kept keep(const Sum &sum) { return sum; }
};

}  // namespace

struct SelectedReader::State {
  State(const Trace &trace, const ClassPart &part, const SequenceView &sequence, std::vector<bool> chosen)
      : calls_of_class(*part.calls),
        wanted(std::move(chosen)),
        rows(trace, part, sequence),
        order(part.calls->projected([&](uint32_t row) { return wanted[row]; })),
        walker(order) {}

  const grammar::Grammar &calls_of_class;
  std::vector<bool> wanted;
  std::optional<grammar::PrefixSums<WantedSums>> index;  ///< once somebody asked
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
  if (!state_->index) state_->index.emplace(state_->calls_of_class, WantedSums{&state_->wanted});
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
