#include "analyze/names_before.h"

#include <algorithm>
#include <optional>

namespace cairn::analyze {

/// The calls of one sequence that make communicators.
struct NamesBefore::Makers {
  trace::SequenceView sequence;
  std::unique_ptr<trace::SelectedReader> reader;
  uint64_t read = 0;
  uint64_t wanted = 0;
};

NamesBefore::NamesBefore(const trace::Trace &trace, uint32_t rank) : trace_(trace), rank_(rank) {
  for (const trace::SequenceView &sequence : trace.sequences(rank)) makers_.push_back({sequence, nullptr});
  begin_again();
}
NamesBefore::~NamesBefore() = default;

void NamesBefore::begin_again() {
  names_ = CommunicatorNames(trace_, rank_);
  for (Makers &makers : makers_) {
    makers.read = 0;
    makers.reader =
        std::make_unique<trace::SelectedReader>(trace_, makers.sequence, [](const trace::Structure::RowHead &head) {
          return !head.many && CommunicatorNames::makes_some(head.function);
        });
  }
}

const CommunicatorNames *NamesBefore::next_call_of(const trace::Events &events) {
  for (Makers &makers : makers_) makers.wanted = 0;
  std::optional<uint32_t> thread;  // that made some
  bool goes_back = false;
  for (const auto &[passed, rows] : events.passed()) {
    const trace::SequenceView &sequence = passed;
    const auto of = std::find_if(makers_.begin(), makers_.end(), [&](const Makers &makers) {
      return makers.sequence.class_index == sequence.class_index;
    });
    if (of == makers_.end()) continue;
    of->wanted = of->reader->rows_before(rows);
    if (of->wanted != 0 && thread.value_or(sequence.thread) != sequence.thread) return nullptr;
    if (of->wanted != 0) thread = sequence.thread;
  }
  for (const Makers &makers : makers_) goes_back = goes_back || makers.wanted < makers.read;
  if (goes_back) begin_again();
  for (Makers &makers : makers_) {
    for (; makers.read < makers.wanted; ++makers.read) {
      if (const trace::Row *call = makers.reader->next()) names_.see(*call);
    }
  }
  return &names_;
}

}  // namespace cairn::analyze
