#include "analyze/thread_events.h"

namespace cairn::analyze {

ThreadEvents::ThreadEvents(const trace::Trace &trace, const trace::SequenceView &sequence)
    : history_(trace.heap(sequence)) {
  if (!history_) return;
  walker_.emplace(*history_->order);
  go_on();
}

void ThreadEvents::go_on() {
  next_.reset();
  left_ = 0;
  for (grammar::Symbol symbol = walker_->next(); symbol != grammar::kNoSymbol; symbol = walker_->next()) {
    const trace::HeapEvent &event = history_->events[symbol];
    left_ += event.calls;  // those of the heap count the same calls
    if (!trace::ThreadEvent::is(event)) continue;
    next_ = trace::ThreadEvent::of(event);
    left_ += next_->passed;
    return;
  }
}

}  // namespace cairn::analyze
