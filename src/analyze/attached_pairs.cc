#include "analyze/attached_pairs.h"

#include <algorithm>
#include <optional>
#include <set>

namespace cairn::analyze {
namespace {

/// The next segment that the thread attaches.
std::optional<Segment> next_segment(ThreadCalls *calls) {
  while (calls->next()) {
    if (const auto segment = attached_by(calls->row(), calls->view().thread)) return segment;
  }
  return std::nullopt;
}

}  // namespace

void AttachedPairs::read() {
  is_read_ = true;
  if (!attaches(first_.trace) || !attaches(second_.trace)) return;
  std::set<std::pair<Segment, Segment>> known;
  for (const uint32_t rank : first_.trace.ranks()) {
    if (attached_segments(first_.trace, rank).empty()) continue;
    std::set<uint32_t> threads;
    for (const trace::SequenceView &sequence : first_.trace.sequences(rank)) threads.insert(sequence.thread);
    for (const uint32_t thread : threads) {
      ThreadCalls first(first_, rank, thread);
      ThreadCalls second(second_, rank, thread);
      for (;;) {
        const auto one = next_segment(&first);
        const auto other = one ? next_segment(&second) : std::nullopt;
        if (!other) break;
        if (one->size != other->size || !known.insert({*one, *other}).second) continue;
        pairs_.insert({one->raw, {*one, *other}});
        longest_ = std::max(longest_, one->size);
      }
    }
  }
}

bool AttachedPairs::same(uint64_t first, uint64_t second) {
  if (!is_read_) read();
  for (auto at = pairs_.upper_bound(first); at != pairs_.begin();) {
    --at;
    const auto &[one, other] = at->second;
    const uint64_t distance = first - one.raw;
    if (distance > longest_) return false;
    // One past the end is where a program may put nothing.
    if (distance <= one.size && second - other.raw == distance) return true;
  }
  return false;
}

}  // namespace cairn::analyze
