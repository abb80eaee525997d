#include "analyze/heap_events.h"

#include <algorithm>

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

bool HeapEvents::can_be(const trace::HeapEvent &event) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 47;
  const bool on_device = trace::DeviceEvent::is(event);
  const int64_t number = on_device ? trace::DeviceEvent::of(event).number : event.number;
  return number >= 0 && number <= kMostNumber && event.bytes < kMostBytes && !(on_device && event.ends());
}

void HeapEvents::go_on() {
  do {
    const grammar::Symbol event = walker_->next();
    next_ = event == grammar::kNoSymbol ? nullptr : &history_->events[event];
    if (next_ != nullptr) left_ += next_->calls;
  } while (next_ != nullptr && !can_be(*next_));
}

std::map<int64_t, uint64_t> device_sizes(const trace::Trace &trace, uint32_t rank) {
  std::map<int64_t, uint64_t> sizes;
  for (const trace::SequenceView &sequence : trace.sequences(rank)) {
    const std::optional<trace::HeapHistory> history = trace.heap(sequence);
    if (!history) continue;
    for (const trace::HeapEvent &event : history->events) {
      if (!trace::DeviceEvent::is(event) || !HeapEvents::can_be(event)) continue;
      uint64_t &most = sizes[trace::DeviceEvent::of(event).number];
      most = std::max(most, event.bytes);
    }
  }
  return sizes;
}

}  // namespace cairn::analyze
