// What reading a trace takes, in one header: for an exporter each call in order, for an analysis the distinct calls and
// how often each was made, for a replayer the loops that they stand in.
//
// Every call of every rank, as a converter would write them (events_test.cc compiles these lines as they stand here):
//
//   int64_t ns_in_mpi(const Trace &trace) {
//     int64_t sum = 0;
//     for (const uint32_t rank : trace.ranks()) {
//       Events events(trace, rank);
//       while (const Event *event = events.next()) {
//         sum += static_cast<int64_t>(event->timed ? event->duration_ns : events.typical_ns().value_or(0));
//       }
//       if (!events.end()) return -1;  // events.end().error() says why calls, or times, are not all there
//     }
//     return sum;
//   }
//
// `event->values` has function, site, depth and every field; src/analyze/decode.h turns these into names and values.
//
// An analysis that need not know the order asks Trace::counted_rows for the distinct calls of each sequence of a rank
// (Trace::sequences), or, where values don't matter, `structure_of` and Trace::row_counts, which expand nothing: cost
// in proportion to the rows, however many calls and ranks there are.
//
// A replayer, or who writes a program that makes the same calls, takes their loops from `structure_of`, and the values
// of one rank from Events in step with them.
//
// All of it borrows the trace, which any number of threads may read; an Events belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "trace/read/call_reader.h"
#include "trace/read/trace.h"

namespace cairn::trace {

/// One call.
struct Event {
  uint32_t rank = 0;
  uint32_t thread = 0;
  uint32_t segment = 0;
  uint64_t index = 0;           ///< among those that are read, from 0
  uint32_t class_index = 0;     ///< whose Trace::sites `values->site` numbers
  uint32_t row = 0;             ///< of the class
  uint64_t row_place = 0;       ///< of its row in the sequence of its class (CallReader); steps.h makes steps of it
  uint32_t call = 0;            ///< number of the distinct call within its sequence (CallReader)
  const Row *values = nullptr;  ///< complete; stays where it is until its sequence ends
  bool timed = false;           ///< where the timing mode keeps times; not the last calls of a process that was killed
  bool damaged = false;         ///< not `timed`, since its time is damaged
  uint64_t begin_ns = 0;        ///< on the axis of the run (axis.h)
  uint64_t end_ns = 0;          ///< the same
  uint64_t duration_ns = 0;     ///< by the rank's own clock
  uint64_t gap_ns = 0;          ///< the same, as coded (timing/call_time.h)
};

/// How long a call took as it is shown: where clocks were corrected, on the axis, since what arrived does not end
/// before it was sent.
inline uint64_t took_ns(const Trace &trace, const Event &event) {
  return trace.axis().corrections() == nullptr ? event.duration_ns : event.end_ns - event.begin_ns;
}

/// The calls of a rank in the order in which they happened, its threads merged by tickets; or those of one sequence.
/// `seek` goes to any of them without going through those before it (CallReader::seek): it costs what that does, for
/// several threads some hundred times, and a block of times.
/// Cost: O(1) amortised a call; memory for the distinct calls of the sequences under way, a block of
/// times for each where the timing mode keeps times, and what the tickets take as a grammar where there are several
/// threads.
class Events {
 public:
  /// `times`: false: no call is `timed`, and none is looked up, which is most of what reading calls costs.
  Events(const Trace &trace, uint32_t rank, bool times = true);
  Events(const Trace &trace, const SequenceView &sequence);
  Events(Events &&) noexcept;
  Events &operator=(Events &&) noexcept;
  ~Events();

  /// The next call; nullptr when there is none. Changes what the last one pointed to.
  const Event *next();
  /// The call of that index is the next one; none is if there are not so many. Numbers of calls (Event::call) begin
  /// anew, but within a sequence that was being read, and `end` tells of what is read from here on.
  void seek(uint64_t index);
  /// How many calls there are. Costs what `seek` does.
  [[nodiscard]] uint64_t count();
  /// An index that no call before it ends at `ns` or later, on the axis: by less than a block of times before that of
  /// the first call that does, mostly. 0 where there are no times, or nothing is known of their order.
  [[nodiscard]] uint64_t index_near(uint64_t ns);
  /// What was passed before the next call, or that which `next` gave last: the sequences that have begun, in order of
  /// (thread, segment), and how many rows of each lie before its next call; UINT64_MAX: all.
  [[nodiscard]] std::vector<std::pair<SequenceView, uint64_t>> passed() const;
  /// The index of the first call whose row is the one at `row`, or behind it, of that sequence, or a lower one where
  /// tickets contradict each other; nothing if the sequence is none of these. Costs what `seek` does.
  [[nodiscard]] std::optional<uint64_t> index_of_row(uint32_t thread, uint32_t segment, uint64_t row);
  /// When the segment behind that of the call which `next` gave last begins, on the axis; UINT64_MAX if there is none,
  /// or several threads. Times that are not exact may go back there.
  [[nodiscard]] uint64_t next_segment_ns() const;
  /// Whether all calls were given once `next` gave nullptr, and all their times that were recorded; or the first error.
  [[nodiscard]] const Result<void> &end() const { return end_; }
  /// The same, but that times may be damaged.
  [[nodiscard]] Result<void> end_of_calls() const { return stopped_ ? end_ : Result<void>(); }
  /// How long calls of the last one's row took in the mean, over all ranks of its class, where times are statistics.
  /// Rows that these don't tell apart have their common mean.
  [[nodiscard]] std::optional<uint64_t> typical_ns();

 private:
  class Thread;
  /// Goes on with the next call of a thread; one that has none ends.
  void advance(Thread *thread);
  void begin_all();
  /// How many calls have tickets below; UINT64_MAX where that is not known.
  uint64_t calls_below(uint64_t ticket);
  const Trace *trace_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Thread *> running_;  ///< at their next calls, in their order
  Event event_;
  uint64_t index_ = 0;
  Thread *given_ = nullptr;  ///< whose call `next` gave
  Result<void> end_;
  bool stopped_ = false;                               ///< before the last call
  std::map<uint32_t, std::vector<uint64_t>> typical_;  ///< by class and row
};

/// The calls of a class as loops, the same on all of its ranks.
struct Structure {
  /// What the terms of the rules number. A `many` row stands for any number of calls, which differs from rank to rank
  /// and from time to time: unsuccessful polls, or what takes the requests out of an array one after the other.
  struct RowHead {
    uint32_t function = 0;
    uint32_t site = 0;  ///< of Trace::sites
    uint32_t depth = 0;
    bool many = false;
  };
  std::vector<RowHead> rows;
  /// Rule 0 is the whole. A term is a row, or a rule, `count` times in succession. Lives as long as the trace.
  const std::vector<std::vector<grammar::Term>> *rules = nullptr;
};
/// `class_index` must exist. Cost: the rows.
Structure structure_of(const Trace &trace, uint32_t class_index);
/// By row: whether it stands for calls of the sequence that all have the values that Trace::row gives. Cost: the rows.
std::vector<bool> rows_of_equal_calls(const Trace &trace, const SequenceView &sequence);

}  // namespace cairn::trace
