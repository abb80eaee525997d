#include "analyze/any_call.h"

#include "timing/mode.h"

namespace cairn::analyze {

using trace::Event;

void AnyCall::go_to(uint64_t index) {
  begins_anew_ = true;
  events_.seek(index);
  if (const CommunicatorNames *names = names_before_.next_call_of(events_)) {
    names_ = *names;
    return;
  }
  names_ = CommunicatorNames(trace_, rank_);
  events_.seek(0);
  for (uint64_t i = 0; i < index; ++i) {
    const Event *event = events_.next();
    if (event == nullptr) break;
    names_.see(*event->values);
  }
}

const Event *AnyCall::at(uint64_t index) {
  if (index != next_) go_to(index);
  const Event *event = events_.next();
  next_ = event == nullptr ? UINT64_MAX : index + 1;
  if (event != nullptr) names_.see(*event->values);
  return event;
}

std::optional<uint64_t> AnyCall::index_at(uint64_t ns) {
  if (!timing::keeps_times(trace_.run().timing)) return std::nullopt;
  next_ = UINT64_MAX;
  begins_anew_ = true;
  events_.seek(events_.index_near(ns));
  while (const Event *event = events_.next()) {
    if (event->timed && event->end_ns >= ns) return event->index;
  }
  return std::nullopt;
}

uint64_t AnyCall::count() {
  if (!count_) count_ = events_.count();
  return *count_;
}

}  // namespace cairn::analyze
