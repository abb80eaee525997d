#include "trace/read/events.h"

#include <algorithm>
#include <utility>

#include "trace/read/call_times.h"
#include "trace/read/trace_body.h"

namespace cairn::trace {

/// One thread of a rank: its segments one after the other.
class Events::Thread {
 public:
  Thread(const Trace &trace, std::vector<SequenceView> sequences, bool ordered)
      : trace_(trace), sequences_(std::move(sequences)), ordered_(ordered) {
    if (!sequences_.empty()) axis_ = trace.place_on_axis(sequences_.front().rank);
  }

  /// Moves to the next call; false at the end.
  Result<bool> advance() {
    while (true) {
      if (reader_) call_ = reader_->next();
      if (reader_ && call_ != grammar::kNoSymbol) break;
      if (next_ == sequences_.size()) return false;
      begin(sequences_[next_++]);
    }
    row_place_ = reader_->row_place();
    Result<timing::PlacedTime> placed;
    damage_.reset();
    if (!times_) damage_ = no_times_;
    timed_ = times_ && position_ < times_->count();
    if (timed_) placed = times_->at(position_);
    if (!placed) {
      damage_ = placed.error();
      timed_ = false;
    }
    if (timed_) {
      time_ = *placed;
      time_.begin_ns += sequences_[next_ - 1].begin_ns;
    }
    if (skips_) {
      const grammar::Symbol skip = skips_->next();
      if (skip == grammar::kNoSymbol) return fail(ErrorKind::unreadable, "fewer tickets than calls");
      ticket_ = position_ == 0 ? order_->first_ticket : ticket_ + skip + 1;
    }
    ++position_;
    return true;
  }
  [[nodiscard]] uint64_t ticket() const { return ticket_; }
  /// Of the call's time.
  [[nodiscard]] const std::optional<Error> &damage() const { return damage_; }
  void tell(Event *event) const {
    const SequenceView &sequence = sequences_[next_ - 1];
    event->rank = sequence.rank;
    event->thread = sequence.thread;
    event->segment = sequence.segment;
    event->class_index = sequence.class_index;
    event->row = reader_->class_row(call_);
    event->row_place = row_place_;
    event->call = call_;
    event->values = &reader_->call(call_);
    event->timed = timed_;
    event->damaged = damage_.has_value();
    event->begin_ns = timed_ ? axis_.of(time_.begin_ns) : 0;
    event->end_ns = timed_ ? std::max(event->begin_ns, axis_.of(time_.begin_ns + time_.time.duration)) : 0;
    event->duration_ns = timed_ ? time_.time.duration : 0;
    event->gap_ns = timed_ ? time_.time.gap : 0;
  }

 private:
  void begin(const SequenceView &sequence) {
    auto times = CallTimes::of(trace_, sequence);
    times_.reset();
    if (times) {
      times_.emplace(*std::move(times));
      times_->read_ahead();
    } else {
      no_times_ = times.error();
    }
    skips_.reset();
    if (ordered_) order_ = trace_.order(sequence);
    if (order_) skips_.emplace(order_->skips);
    position_ = 0;
    reader_.emplace(trace_, sequence);
  }

  const Trace &trace_;
  std::vector<SequenceView> sequences_;
  Axis::Place axis_;
  bool ordered_;     ///< there are other threads
  size_t next_ = 0;  ///< sequence
  std::optional<CallReader> reader_;
  std::optional<CallTimes> times_;  ///< nothing: `no_times_` says why
  Error no_times_;
  std::optional<Error> damage_;
  std::optional<CallOrder> order_;
  std::optional<grammar::Walker> skips_;  ///< of `order_`
  uint64_t position_ = 0;
  uint64_t row_place_ = 0;
  bool timed_ = false;
  timing::PlacedTime time_;  ///< of the call, from the rank's zero
  uint64_t ticket_ = 0;
  grammar::Symbol call_ = grammar::kNoSymbol;
};

Events::Events(const Trace &trace, const SequenceView &sequence) : trace_(&trace) {
  threads_.push_back(std::make_unique<Thread>(trace, std::vector{sequence}, false));
  advance(0);
}

Events::Events(const Trace &trace, uint32_t rank) : trace_(&trace) {
  std::map<uint32_t, std::vector<SequenceView>> by_thread;
  for (const SequenceView &sequence : trace.sequences(rank)) by_thread[sequence.thread].push_back(sequence);
  for (auto &[thread, sequences] : by_thread) {
    threads_.push_back(std::make_unique<Thread>(trace, std::move(sequences), by_thread.size() > 1));
  }
  for (size_t i = threads_.size(); i-- > 0;) advance(i);
}

Events::Events(Events &&) noexcept = default;
Events &Events::operator=(Events &&) noexcept = default;
Events::~Events() = default;

void Events::advance(size_t thread) {
  const Result<bool> more = threads_[thread]->advance();
  if (!more && !std::exchange(stopped_, true)) end_ = tl::unexpected(more.error());
  if (!more || !*more) threads_.erase(threads_.begin() + static_cast<std::ptrdiff_t>(thread));
}

const Event *Events::next() {
  if (given_) advance(*std::exchange(given_, std::nullopt));
  if (threads_.empty() || stopped_) return nullptr;
  // Threads are few: a scan beats a heap.
  size_t first = 0;
  for (size_t i = 1; i < threads_.size(); ++i) {
    if (threads_[i]->ticket() < threads_[first]->ticket()) first = i;
  }
  threads_[first]->tell(&event_);
  if (event_.damaged && end_) end_ = tl::unexpected(*threads_[first]->damage());
  event_.index = index_++;
  given_ = first;
  return &event_;
}

std::optional<uint64_t> Events::typical_ns() {
  if (event_.values == nullptr) return std::nullopt;
  const auto [entry, added] = typical_.try_emplace(event_.class_index);
  if (added) entry->second = mean_durations(class_part_of(*trace_, event_.class_index));
  if (event_.row >= entry->second.size() || entry->second[event_.row] == UINT64_MAX) return std::nullopt;
  return entry->second[event_.row];
}

Structure structure_of(const Trace &trace, uint32_t class_index) {
  const ClassPart &part = class_part_of(trace, class_index);
  Structure structure;
  structure.rules = &part.calls->rules();
  structure.rows.reserve(part.rows.size());
  for (const RowPointer &row : part.rows) {
    structure.rows.push_back({row->function, row->site, row->depth, !is_call(row->kind)});
  }
  return structure;
}

}  // namespace cairn::trace
