#include "analyze/events.h"

#include <map>
#include <optional>
#include <vector>

#include "trace/read/call_reader.h"

namespace cairn::analyze {
namespace {

/// One thread of the rank: its segments one after the other.
class ThreadCursor {
 public:
  ThreadCursor(const trace::Trace &trace, std::vector<trace::SequenceView> sequences)
      : trace_(&trace), sequences_(std::move(sequences)) {}

  /// Moves to the next call; false at the end.
  Result<bool> advance() {
    while (true) {
      if (reader_) {
        call_ = reader_->next();
        if (call_ != grammar::kNoSymbol) {
          const uint64_t at = position_++;
          if (!times_.empty()) {
            if (at >= times_.size()) return fail(ErrorKind::unreadable, "fewer times than calls");
            begin_ = clock_ + times_[at].gap;
            clock_ = begin_ + times_[at].duration;
            duration_ = times_[at].duration;
          }
          if (!tickets_.empty()) {
            if (at >= tickets_.size()) return fail(ErrorKind::unreadable, "fewer tickets than calls");
            ticket_ = tickets_[at];
          }
          return true;
        }
        reader_.reset();
      }
      if (next_ == sequences_.size()) return false;
      const trace::SequenceView &sequence = sequences_[next_++];
      auto times = trace_->times(sequence);
      if (!times) return tl::unexpected(times.error());
      times_ = std::move(*times);
      tickets_ = trace_->tickets(sequence);
      clock_ = sequence.begin_ns;
      position_ = 0;
      reader_.emplace(*trace_, sequence);
    }
  }
  [[nodiscard]] uint64_t ticket() const { return ticket_; }
  [[nodiscard]] Event event() const {
    const trace::SequenceView &sequence = sequences_[next_ - 1];
    Event event;
    event.rank = sequence.rank;
    event.thread = sequence.thread;
    event.segment = sequence.segment;
    event.class_index = sequence.class_index;
    event.row = reader_->class_row(call_);
    event.call = call_;
    event.values = &reader_->call(call_);
    event.timed = !times_.empty();
    event.begin_ns = begin_;
    event.duration_ns = duration_;
    return event;
  }

 private:
  const trace::Trace *trace_;
  std::vector<trace::SequenceView> sequences_;
  size_t next_ = 0;
  std::optional<trace::CallReader> reader_;
  std::vector<timing::CallTime> times_;
  std::vector<uint64_t> tickets_;
  uint64_t position_ = 0;
  uint64_t clock_ = 0;
  uint64_t begin_ = 0;
  uint64_t duration_ = 0;
  uint64_t ticket_ = 0;
  grammar::Symbol call_ = grammar::kNoSymbol;
};

}  // namespace

Result<void> for_each_event(const trace::Trace &trace, uint32_t rank, const std::function<bool(const Event &)> &visit) {
  std::map<uint32_t, std::vector<trace::SequenceView>> by_thread;
  for (const trace::SequenceView &sequence : trace.sequences(rank)) by_thread[sequence.thread].push_back(sequence);
  std::vector<ThreadCursor> threads;
  for (auto &[thread, sequences] : by_thread) {
    threads.emplace_back(trace, std::move(sequences));
    const auto any = threads.back().advance();
    if (!any) return tl::unexpected(any.error());
    if (!*any) threads.pop_back();
  }
  uint64_t index = 0;
  while (!threads.empty()) {
    // Threads are few: a scan beats a heap.
    size_t first = 0;
    for (size_t i = 1; i < threads.size(); ++i) {
      if (threads[i].ticket() < threads[first].ticket()) first = i;
    }
    Event event = threads[first].event();
    event.index = index++;
    if (!visit(event)) return {};
    const auto more = threads[first].advance();
    if (!more) return tl::unexpected(more.error());
    if (!*more) threads.erase(threads.begin() + static_cast<std::ptrdiff_t>(first));
  }
  return {};
}

}  // namespace cairn::analyze
