#include "timeline/timed_calls.h"

#include <algorithm>
#include <utility>

#include "trace/read/class_structure.h"

namespace cairn::timeline {

TimedCalls::TimedCalls(const trace::Trace &trace, const trace::SequenceView &sequence, trace::CallTimes times)
    : part_(&trace::class_structure(trace, sequence.class_index)),
      begin_ns_(sequence.begin_ns),
      axis_(trace.place_on_axis(sequence.rank)),
      times_(std::move(times)),
      reader_(trace, sequence) {}

Result<TimedCalls> TimedCalls::of(const trace::Trace &trace, const trace::SequenceView &sequence) {
  auto times = trace::CallTimes::of(trace, sequence);
  if (!times) return tl::unexpected(times.error());
  return TimedCalls(trace, sequence, *std::move(times));
}

Result<std::optional<TimedCalls::Call>> TimedCalls::next() {
  if (position_ >= times_.count()) return std::nullopt;
  const auto placed = times_.at(position_);
  if (!placed) return tl::unexpected(placed.error());
  const grammar::Symbol call = reader_.next();
  if (call == grammar::kNoSymbol) return std::nullopt;
  Call made;
  made.index = position_++;
  made.row = reader_.class_row(call);
  made.depth = part_->rows[made.row]->depth;
  const uint64_t begin = placed->begin_ns + begin_ns_;
  made.begin_ns = axis_.of(begin);
  made.end_ns = std::max(made.begin_ns, axis_.of(begin + placed->time.duration));
  return made;
}

void TimedCalls::seek(uint64_t index) {
  if (index == position_) return;
  reader_.seek(index);
  position_ = index;
}

uint64_t TimedCalls::count() { return reader_.count(); }

uint64_t TimedCalls::own_of(uint64_t ns) const {
  const uint64_t own = axis_.own_of(ns);
  return own < begin_ns_ ? 0 : own - begin_ns_;
}

uint64_t TimedCalls::near(uint64_t ns) { return times_.first_near(own_of(ns)); }

uint64_t TimedCalls::behind(uint64_t ns) const {
  if (times_.bytes().damage || ns == UINT64_MAX) return times_.count();
  const std::vector<timing::BlockPlace> &blocks = times_.blocks();
  uint64_t off = 0;
  for (const timing::BlockPlace &block : blocks) off = std::max(off, block.clock_error_ns);
  const uint64_t own = own_of(ns);
  const auto after = std::partition_point(blocks.begin(), blocks.end(), [&](const timing::BlockPlace &block) {
    return block.begin_ns < own || block.begin_ns - own < 2 * off;
  });
  return after == blocks.end() ? times_.count() : after->first_call;
}

}  // namespace cairn::timeline
