#include "analyze/thread_calls.h"

namespace cairn::analyze {

ThreadCalls::ThreadCalls(const Run &run, uint32_t rank, uint32_t thread) : run_(run) {
  for (const trace::SequenceView &sequence : run.trace.sequences(rank)) {
    if (sequence.thread == thread) sequences_.push_back(sequence);
  }
}

bool ThreadCalls::next() {
  for (;;) {
    if (!reader_) {
      if (next_ == sequences_.size()) return false;
      reader_ = std::make_shared<trace::CallReader>(run_.trace, sequences_[next_++]);
    }
    number_ = reader_->next();
    if (number_ == grammar::kNoSymbol) {
      reader_.reset();
      continue;
    }
    if (!found_nothing(row())) return true;
  }
}

bool found_nothing(const trace::Row &row) {
  const auto functions = spec::functions();
  if (row.function >= functions.size()) return false;
  const uint8_t answer = functions[row.function].answer;
  if (answer == 0 || row.fields.size() < answer) return false;
  const std::vector<trace::Atom> &atoms = row.fields[answer - 1U].atoms;
  return atoms.size() == 1 && atoms[0] == 0;
}

}  // namespace cairn::analyze
