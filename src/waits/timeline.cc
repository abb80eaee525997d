#include "waits/timeline.h"

#include <algorithm>

namespace cairn::waits {

void Timeline::add(Span span) {
  if (!spans_.empty()) span.begin_ns = std::max(span.begin_ns, spans_.back().end_ns);
  if (span.end_ns <= span.begin_ns) return;
  if (!spans_.empty() && spans_.back().end_ns == span.begin_ns && spans_.back().cause == span.cause) {
    spans_.back().end_ns = span.end_ns;
    return;
  }
  if (spans_.size() >= kMost) {
    std::deque<Span> joined;
    for (size_t i = 0; i + 1 < spans_.size(); i += 2) {
      const Span &first = spans_[i];
      const Span &second = spans_[i + 1];
      const bool longer = first.end_ns - first.begin_ns >= second.end_ns - second.begin_ns;
      joined.push_back({first.begin_ns, second.end_ns, longer ? first.cause : second.cause});
    }
    spans_ = std::move(joined);
  }
  spans_.push_back(span);
}

void Timeline::forget_before(uint64_t ns) {
  while (spans_.size() > kKept && spans_.front().end_ns <= ns) spans_.pop_front();
}

std::deque<Span>::const_iterator Timeline::first_after(uint64_t ns) const {
  return std::partition_point(spans_.begin(), spans_.end(), [ns](const Span &span) { return span.end_ns <= ns; });
}

}  // namespace cairn::waits
