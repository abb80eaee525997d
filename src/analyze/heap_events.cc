#include "analyze/heap_events.h"

#include "spec/spec.h"

namespace cairn::analyze {

HeapEvents::HeapEvents(const trace::Trace &trace, const trace::SequenceView &sequence)
    : history_(trace.heap(sequence)) {
  if (!history_) return;
  walker_.emplace(*history_->order);
  go_on();
}

bool HeapEvents::counts(uint32_t function) {
  return function >= spec::functions().size() || !spec::varies_by_chance(spec::functions()[function]);
}

void HeapEvents::go_on() {
  constexpr uint64_t kMostBytes = uint64_t{1} << 47;
  do {
    const grammar::Symbol event = walker_->next();
    next_ = event == grammar::kNoSymbol ? nullptr : &history_->events[event];
    if (next_ != nullptr) left_ += next_->calls;
  } while (next_ != nullptr && (next_->number < 0 || next_->number > kMostNumber || next_->bytes >= kMostBytes));
}

}  // namespace cairn::analyze
