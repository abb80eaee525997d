#include "trace/call_reader.h"

#include <deque>
#include <vector>

namespace cairn::trace {

struct CallReader::State {
  struct Call {
    Row row;
    uint32_t class_row;
  };
  const Trace &trace;
  SequenceView sequence;
  grammar::Walker walker;
  std::vector<grammar::Symbol> number_of_row;
  std::deque<Call> calls;
};

CallReader::CallReader(const Trace &trace, const SequenceView &sequence) {
  const ClassView view = trace.class_view(sequence.class_index);
  state_ = std::make_unique<State>(State{
      trace, sequence, grammar::Walker(*view.calls), std::vector<grammar::Symbol>(view.rows, grammar::kNoSymbol), {}});
}
CallReader::CallReader(CallReader &&) noexcept = default;
CallReader &CallReader::operator=(CallReader &&) noexcept = default;
CallReader::~CallReader() = default;

grammar::Symbol CallReader::next() {
  const grammar::Symbol row = state_->walker.next();
  if (row == grammar::kNoSymbol) return row;
  grammar::Symbol &number = state_->number_of_row[row];
  if (number == grammar::kNoSymbol) {
    number = static_cast<grammar::Symbol>(state_->calls.size());
    state_->calls.push_back({state_->trace.row(state_->sequence.class_index, row, state_->sequence.rank), row});
  }
  return number;
}

const Row &CallReader::call(grammar::Symbol number) const { return state_->calls[number].row; }
uint32_t CallReader::class_row(grammar::Symbol number) const { return state_->calls[number].class_row; }

}  // namespace cairn::trace
