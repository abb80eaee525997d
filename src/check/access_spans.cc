#include "check/access_spans.h"

#include <algorithm>

namespace cairn::check {

void AccessSpans::meet(const ByBegin &with, const Span &span, uint64_t uncertainty_ns, const Met &met) const {
  // None that begins before could reach it.
  auto each = with.lower_bound(span.begin - longest_);
  for (; each != with.end() && each->first < span.end; ++each) {
    const Span &other = each->second;
    if (other.end <= span.begin || other.access.call.rank == span.access.call.rank) continue;
    const uint64_t from = std::max(other.from_ns, span.from_ns);
    const uint64_t until = std::min(other.until_ns, span.until_ns);
    if (until > from && until - from > uncertainty_ns) met(other, span);
  }
}

void AccessSpans::add(const Span &span, uint64_t uncertainty_ns, const Met &met) {
  meet(puts_, span, uncertainty_ns, met);
  if (span.access.puts()) meet(others_, span, uncertainty_ns, met);
  longest_ = std::max(longest_, span.end - span.begin);
  (span.access.puts() ? puts_ : others_).emplace(span.begin, span);
}

void AccessSpans::forget_until(uint64_t ns) {
  if (size() < look_at_) return;
  for (ByBegin *all : {&puts_, &others_}) {
    std::erase_if(*all, [ns](const auto &each) { return each.second.until_ns <= ns; });
  }
  constexpr size_t kFew = 64;
  look_at_ = std::max(kFew, 2 * size());
}

}  // namespace cairn::check
