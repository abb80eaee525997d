#include "timeline/made_calls.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "trace/read/class_structure.h"

namespace cairn::timeline {

MadeCalls::MadeCalls(const trace::Trace &trace, const trace::SequenceView &sequence, std::shared_ptr<ClassAxis> axis,
                     Ticks begin)
    : part_(trace::class_structure(trace, sequence.class_index)),
      axis_(std::move(axis)),
      begin_(begin),
      reader_(trace, sequence) {}

void MadeCalls::know_unit(uint32_t class_row) {
  const uint64_t row = reader_.row_place();
  if (row == unit_.row) return;
  const bool follows = unit_.row != UINT64_MAX && row == unit_.row + unit_.rows;
  Unit now;
  now.row = row;
  now.rows = 1;
  now.begin = follows ? unit_.begin + unit_.share.whole() : axis_->begin_of(row);
  now.first_call = position_;
  if (is_call(part_.rows[class_row]->kind)) {
    now.share = axis_->shares()[class_row];
  } else {
    grammar::Walker walker = axis_->walk_from(row);
    const uint32_t first = walker.next();
    now.share = axis_->shares()[first];
    const auto *counted = std::get_if<trace::Counted>(&part_.rows[first]->kind);
    for (; counted != nullptr && now.rows < counted->cycle; ++now.rows) {
      const uint32_t next = walker.next();
      if (next == grammar::kNoSymbol) break;
      now.share.gap += axis_->shares()[next].gap;
      now.share.call += axis_->shares()[next].call;
    }
    now.first_call = reader_.calls_before_row(row);
    now.calls = std::max<uint64_t>(1, reader_.calls_before_row(row + now.rows) - now.first_call);
  }
  unit_ = now;
}

Result<std::optional<SequenceCalls::Call>> MadeCalls::next() {
  const grammar::Symbol call = reader_.next();
  if (call == grammar::kNoSymbol) return std::nullopt;
  Call made;
  made.row = reader_.class_row(call);
  made.depth = part_.rows[made.row]->depth;
  know_unit(made.row);
  made.index = position_++;
  const Ticks before = unit_.share.whole() * (made.index - unit_.first_call) / unit_.calls;
  const Ticks after = unit_.share.whole() * (made.index - unit_.first_call + 1) / unit_.calls;
  made.begin_ns = ns_of(begin_ + unit_.begin + before + unit_.share.gap / unit_.calls);
  made.end_ns = std::max(made.begin_ns, ns_of(begin_ + unit_.begin + after));
  return made;
}

void MadeCalls::seek(uint64_t index) {
  if (index == position_) return;
  reader_.seek(index);
  position_ = index;
}

uint64_t MadeCalls::near(uint64_t ns) {
  if (ticks_of(ns) <= begin_) return 0;
  const Ticks ticks = ticks_of(ns) - begin_;
  const uint64_t first = reader_.calls_before_row(axis_->at(ticks).row);
  seek(first);
  if (!next() || !(unit_.begin < ticks) || unit_.share.whole() == 0) return first;
  // Of many calls that share a row's time, the one before the one that has the moment.
  const Ticks into = std::min(ticks - unit_.begin, unit_.share.whole());
  const auto before = static_cast<uint64_t>(into * unit_.calls / unit_.share.whole());
  return unit_.first_call + (before == 0 ? 0 : std::min(before, unit_.calls) - 1);
}

}  // namespace cairn::timeline
