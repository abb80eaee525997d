// Walk: the calls of one rank that are wanted, with what formats of traces tell of each. All exporters of calls take
// them from here.
//
// Calls before a window are read as well, since it takes them to know what a request or a communicator is, but for
// turns of loops that are all the same (turns/rank_loops.h); those that are not wanted are not given. Cost: as Events,
// and a look at a table a call. Borrows the scope. One thread.
//
// Nesting: the same calls in the order in which they begin and end, thread by thread, so that one stands inside the
// other where a callback called MPI. Times of a thread never go back there: where a trace's times are not exact, begins
// and ends are moved up to what came before.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "export/message_ends.h"
#include "export/scope.h"
#include "trace/read/events.h"

namespace cairn::exporting {

struct Call {
  uint32_t rank = 0;
  uint32_t thread = 0;
  uint64_t index = 0;  ///< among the rank's calls, as cairn dump numbers them
  uint32_t function = 0;
  uint32_t depth = 0;
  uint32_t place = 0;  ///< Scope::places
  bool timed = false;
  bool failed = false;    ///< it returned an error, or did not return
  uint64_t begin_ns = 0;  ///< on the axis of the run; where `timed` is false, 0
  uint64_t end_ns = 0;
  std::vector<MessageEnd> ends;
};

class Walk {
 public:
  Walk(Scope *scope, uint32_t rank, LeftOut *left_out);
  /// The next call that is wanted; nullptr when there is none. Valid until the next call of this.
  Call *next();
  /// The same, but no call behind that number.
  Call *next_until(uint64_t index);
  /// Is shown each call that the walk goes through, wanted or not; then it goes on behind the window, past turns as
  /// before it.
  void show(std::function<void(const trace::Event &)> see) { see_ = std::move(see); }
  /// Whether all calls were given, and all their times that were recorded.
  [[nodiscard]] const Result<void> &end() const { return events_.end(); }

 private:
  [[nodiscard]] bool is_wanted(const trace::Event &event) const;
  void read();
  void take(const trace::Event &event);
  /// What receives got whose status was ignored.
  void settle_sizes(const std::vector<std::optional<uint64_t>> &told);

  Scope &scope_;
  trace::Events events_;
  MessageEnds ends_;
  LeftOut &left_out_;
  std::optional<ReceivedSizes::Reader> sizes_;
  std::function<void(const trace::Event &)> see_;
  std::optional<turns::RankLoops> loops_;  ///< of a window whose end was not reached
  std::vector<analyze::Cut> cuts_;         ///< that are still to come; the next one is the last
  uint64_t next_call_ = 0;
  const trace::Event *event_ = nullptr;  ///< the next one
  bool begun_ = false;
  uint64_t unsaid_ = 0;  ///< calls that the progress was not told of
  Call call_;
};

class Nesting {
 public:
  using Visit = std::function<void(const Call &call)>;
  /// `begin` and `end` are told of each call, and of all within it between.
  Nesting(Visit begin, Visit end) : begin_(std::move(begin)), end_(std::move(end)) {}
  void add(Call &&call);
  /// Some calls wait for one that they stand in.
  [[nodiscard]] bool holds() const;
  /// No more calls: those inside of others that never came are told.
  void finish();

 private:
  struct Thread {
    std::vector<Call> held;  ///< calls that stand inside of one that has not come
    uint64_t at_ns = 0;
  };
  void tell(Thread *thread);
  void tell_range(Thread *thread, size_t first, size_t last);
  void begin(Thread *thread, Call *call);
  void end(Thread *thread, Call *call);

  Visit begin_;
  Visit end_;
  std::map<uint32_t, Thread> threads_;
};

/// How many calls the ranks that are wanted made: a look at the rows, nothing is expanded.
uint64_t count_calls(const Scope &scope);

}  // namespace cairn::exporting
