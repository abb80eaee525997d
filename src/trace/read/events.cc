#include "trace/read/events.h"

#include <algorithm>
#include <utility>

#include "grammar/prefix_sums.h"
#include "trace/read/call_times.h"
#include "trace/read/trace_body.h"

namespace cairn::trace {

/// One thread of a rank: its segments one after the other.
class Events::Thread {
 public:
  Thread(const Trace &trace, std::vector<SequenceView> sequences, bool ordered, bool timed)
      : trace_(trace), sequences_(std::move(sequences)), ordered_(ordered), with_times_(timed) {
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
    if (!times_ && with_times_) damage_ = no_times_;
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
  [[nodiscard]] uint64_t next_segment_ns() const {
    return next_ < sequences_.size() ? axis_.of(sequences_[next_].begin_ns) : UINT64_MAX;
  }
  /// The call `call` of the thread is the one that `advance` moves to.
  void seek(uint64_t call) {
    const std::vector<Part> &all = parts();
    const size_t read = reader_ ? next_ : 0;
    next_ = 0;
    ticket_ = 0;
    if (call == 0 || all.empty()) return reader_.reset();
    const auto after = std::upper_bound(all.begin(), all.end(), call,
                                        [](uint64_t wanted, const Part &part) { return wanted < part.first_call; });
    next_ = static_cast<size_t>(after - all.begin()) - 1;
    if (ordered_) ticket_ = ticket_of(call - 1);
    if (++next_ != read) begin(sequences_[next_ - 1]);
    position_ = call - (after - 1)->first_call;
    reader_->seek(position_);
    if (skips_) skips_.emplace(order_->skips, position_);
  }
  uint64_t count() {
    const std::vector<Part> &all = parts();
    return all.empty() ? 0 : all.back().first_call + all.back().calls;
  }
  /// Tickets rise along the thread, and there is one for each call, as far as there are any.
  bool is_ordered() {
    parts();
    return rises_;
  }
  /// How many calls have tickets below.
  uint64_t calls_below(uint64_t ticket) {
    uint64_t calls = 0;
    for (const Part &part : parts()) calls += part.calls_below(ticket);
    return calls;
  }
  /// Of a call; of none, one above all.
  uint64_t ticket_of(uint64_t call) {
    for (const Part &part : parts()) {
      if (call - part.first_call < part.calls) return part.ticket_of(call - part.first_call);
    }
    return UINT64_MAX;
  }
  /// As CallTimes::first_near, on the axis.
  uint64_t first_near(uint64_t ns) {
    const uint64_t own = axis_.own_of(ns);
    const std::vector<Part> &all = parts();
    size_t i = sequences_.size();
    uint64_t found = 0;  // in the segment behind; 0: not there
    while (i-- > 0) {
      if (sequences_[i].begin_ns > own) continue;
      const auto times = CallTimes::of(trace_, sequences_[i]);
      if (!times) return 0;
      const uint64_t since = own - sequences_[i].begin_ns;
      if (found != 0) {
        // Times of this one that are off may reach into the next.
        uint64_t off = 0;
        for (const timing::BlockPlace &block : times->blocks()) off = std::max(off, block.clock_error_ns);
        if (own - sequences_[i + 1].begin_ns >= off) return found;
      }
      const uint64_t near = times->first_near(since);
      found = near == 0 ? 0 : all[i].first_call + near;
    }
    return found;
  }
  /// The first call at that row of one of its sequences, or behind.
  std::optional<uint64_t> call_of_row(uint32_t thread, uint32_t segment, uint64_t row) {
    for (size_t i = 0; i < sequences_.size(); ++i) {
      if (sequences_[i].thread != thread || sequences_[i].segment != segment) continue;
      std::unique_ptr<CallReader> &reader = by_row_[i];
      if (!reader) reader = std::make_unique<CallReader>(trace_, sequences_[i]);
      return parts()[i].first_call + reader->calls_before_row(row);
    }
    return std::nullopt;
  }
  /// Sequences that have begun, and their rows before the next call.
  void add_passed(bool running, std::vector<std::pair<SequenceView, uint64_t>> *all) const {
    for (size_t i = 0; i < next_; ++i) {
      const bool at = running && i + 1 == next_;
      all->emplace_back(sequences_[i], at ? row_place_ : UINT64_MAX);
    }
  }
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
  /// Tickets of calls, one more than the number of others in between.
  struct TicketSums {
    struct Sum {
      uint64_t calls = 0;
      uint64_t tickets = 0;
    };
    using Kept = Sum;
    static Sum nothing() { return {}; }
    static void add(Sum *sum, grammar::Symbol skip, uint64_t times) {
      sum->calls += times;
      sum->tickets += (uint64_t{skip} + 1) * times;
    }
    static void add(Sum *sum, const Kept &rule, uint64_t times) {
      sum->calls += rule.calls * times;
      sum->tickets += rule.tickets * times;
    }
    static Kept keep(const Sum &sum) { return sum; }
  };
  /// Where the calls of a sequence stand in the thread.
  struct Part {
    uint64_t first_call = 0;
    uint64_t calls = 0;
    uint64_t ticket = 0;             ///< of the first; of all where there are no others
    std::optional<CallOrder> order;  ///< must stay where it is
    std::optional<grammar::PrefixSums<TicketSums>> tickets;

    [[nodiscard]] uint64_t ticket_of(uint64_t call) const {
      if (!tickets) return ticket;
      return ticket + tickets->before(call + 1).tickets - tickets->before(1).tickets;
    }
    [[nodiscard]] uint64_t calls_below(uint64_t limit) const {
      if (!tickets || calls == 0) return ticket < limit ? calls : 0;
      const uint64_t first = tickets->before(1).tickets;
      const uint64_t below = tickets->longest(
          [&](const TicketSums::Sum &sum) { return sum.calls == 0 || ticket + sum.tickets - first < limit; });
      return std::min(below, calls);
    }
  };

  /// Made when first asked for.
  const std::vector<Part> &parts() {
    if (!parts_.empty() || sequences_.empty()) return parts_;
    parts_.reserve(sequences_.size());
    uint64_t calls = 0;
    uint64_t last = 0;  // ticket
    for (const SequenceView &sequence : sequences_) {
      Part &part = parts_.emplace_back();
      part.first_call = calls;
      part.calls = CallReader(trace_, sequence).count();
      part.ticket = last;
      if (ordered_) part.order = trace_.order(sequence);
      if (part.order) {
        part.ticket = part.order->first_ticket;
        part.tickets.emplace(part.order->skips);
        rises_ = rises_ && part.ticket >= last && part.order->skips.length() >= part.calls;
      }
      calls += part.calls;
      if (part.calls != 0) last = part.ticket_of(part.calls - 1);
    }
    return parts_;
  }
  void begin(const SequenceView &sequence) {
    times_.reset();
    if (with_times_) begin_times(sequence);
    skips_.reset();
    if (ordered_) order_ = trace_.order(sequence);
    if (order_) skips_.emplace(order_->skips);
    position_ = 0;
    reader_.emplace(trace_, sequence);
  }
  void begin_times(const SequenceView &sequence) {
    auto times = CallTimes::of(trace_, sequence);
    if (times) {
      times_.emplace(*std::move(times));
      times_->read_ahead();
    } else {
      no_times_ = times.error();
    }
  }

  const Trace &trace_;
  std::vector<SequenceView> sequences_;
  std::vector<Part> parts_;                               ///< of the sequences
  std::map<size_t, std::unique_ptr<CallReader>> by_row_;  ///< of those that were asked for places of rows
  bool rises_ = true;
  Axis::Place axis_;
  bool ordered_;  ///< there are other threads
  bool with_times_;
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
  threads_.push_back(std::make_unique<Thread>(trace, std::vector{sequence}, false, true));
  begin_all();
}

Events::Events(const Trace &trace, uint32_t rank, bool times) : trace_(&trace) {
  std::map<uint32_t, std::vector<SequenceView>> by_thread;
  for (const SequenceView &sequence : trace.sequences(rank)) by_thread[sequence.thread].push_back(sequence);
  for (auto &[thread, sequences] : by_thread) {
    threads_.push_back(std::make_unique<Thread>(trace, std::move(sequences), by_thread.size() > 1, times));
  }
  begin_all();
}

Events::Events(Events &&) noexcept = default;
Events &Events::operator=(Events &&) noexcept = default;
Events::~Events() = default;

void Events::begin_all() {
  running_.clear();
  for (const auto &thread : threads_) running_.push_back(thread.get());
  for (const auto &thread : threads_) advance(thread.get());
}

void Events::advance(Thread *thread) {
  const Result<bool> more = thread->advance();
  if (!more && !std::exchange(stopped_, true)) end_ = tl::unexpected(more.error());
  if (!more || !*more) running_.erase(std::find(running_.begin(), running_.end(), thread));
}

const Event *Events::next() {
  if (given_ != nullptr) advance(std::exchange(given_, nullptr));
  if (running_.empty() || stopped_) return nullptr;
  // Threads are few: a scan beats a heap.
  Thread *first = running_[0];
  for (Thread *thread : running_) {
    if (thread->ticket() < first->ticket()) first = thread;
  }
  first->tell(&event_);
  if (event_.damaged && end_) end_ = tl::unexpected(*first->damage());
  event_.index = index_++;
  given_ = first;
  return &event_;
}

uint64_t Events::next_segment_ns() const { return threads_.size() == 1 ? threads_[0]->next_segment_ns() : UINT64_MAX; }

uint64_t Events::count() {
  uint64_t calls = 0;
  for (const auto &thread : threads_) calls += thread->count();
  return calls;
}

uint64_t Events::calls_below(uint64_t ticket) {
  uint64_t calls = 0;
  for (const auto &thread : threads_) calls += thread->calls_below(ticket);
  return calls;
}

void Events::seek(uint64_t index) {
  given_ = nullptr;
  end_ = {};
  stopped_ = false;
  index_ = index;
  if (threads_.size() == 1) {
    threads_[0]->seek(index);
    return begin_all();
  }
  if (!std::all_of(threads_.begin(), threads_.end(), [](const auto &thread) { return thread->is_ordered(); })) {
    // The trace contradicts itself: what comes when is only known by going there.
    for (const auto &thread : threads_) thread->seek(0);
    begin_all();
    for (index_ = 0; index_ < index && next() != nullptr;) {
    }
    return;
  }
  uint64_t least = 0;  // the ticket of that call
  for (uint64_t most = UINT64_MAX - 1; least < most;) {
    const uint64_t middle = least + (most - least) / 2;
    if (calls_below(middle + 1) > index) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
  const uint64_t before = calls_below(least);
  uint64_t rest = index > before ? index - before : 0;  // calls with that ticket, of threads in their order
  for (const auto &thread : threads_) {
    const uint64_t own = thread->calls_below(least);
    const uint64_t same = std::min(rest, thread->calls_below(least + 1) - own);
    rest -= same;
    thread->seek(own + same);
  }
  begin_all();
}

uint64_t Events::index_near(uint64_t ns) {
  if (threads_.size() == 1) return threads_[0]->first_near(ns);
  uint64_t least = UINT64_MAX;
  for (const auto &thread : threads_) {
    if (!thread->is_ordered()) return 0;
    least = std::min(least, thread->ticket_of(thread->first_near(ns)));
  }
  return threads_.empty() ? 0 : calls_below(least);
}

std::optional<uint64_t> Events::index_of_row(uint32_t thread, uint32_t segment, uint64_t row) {
  for (size_t t = 0; t < threads_.size(); ++t) {
    const std::optional<uint64_t> call = threads_[t]->call_of_row(thread, segment, row);
    if (!call) continue;
    if (threads_.size() == 1) return call;
    if (*call >= threads_[t]->count()) return count();
    if (!std::all_of(threads_.begin(), threads_.end(), [](const auto &each) { return each->is_ordered(); })) return 0;
    return calls_below(threads_[t]->ticket_of(*call));
  }
  return std::nullopt;
}

std::vector<std::pair<SequenceView, uint64_t>> Events::passed() const {
  std::vector<std::pair<SequenceView, uint64_t>> all;
  for (const auto &thread : threads_) {
    thread->add_passed(std::find(running_.begin(), running_.end(), thread.get()) != running_.end(), &all);
  }
  return all;
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
