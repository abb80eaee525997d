// RankCalls, RankFill: the time that one rank was outside MPI and in its calls, put into columns, a number of calls at
// a time.
//
// Calls nested in others are part of those. Of several threads all are summed. Begins with the calls at the window's
// begin and ends with those at its end. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "timeline/class_axis.h"
#include "timeline/kinds.h"
#include "timeline/timed_calls.h"

namespace cairn::timeline {

/// The sequences of a rank, opened when they are first needed. Borrows the trace.
class RankCalls {
 public:
  RankCalls(const trace::Trace &trace, uint32_t rank);
  [[nodiscard]] const std::vector<trace::SequenceView> &sequences() const { return sequences_; }
  Result<TimedCalls *> open(size_t sequence);
  void close(size_t sequence) { open_[sequence].reset(); }
  /// Whether what lies at `ns` or later is of a later sequence of the same thread.
  [[nodiscard]] bool is_over(size_t sequence, uint64_t ns) const;
  [[nodiscard]] bool is_first_of_thread(size_t sequence) const;
  /// When the rank was cut short, if it is outside MPI until then behind the last call of this sequence.
  [[nodiscard]] std::optional<uint64_t> outside_until(size_t sequence) const;
  /// About how many calls a window has, no fewer than will be gone through for it.
  Result<uint64_t> calls_within(uint64_t begin_ns, uint64_t end_ns);

 private:
  const trace::Trace &trace_;
  trace::Axis::Place axis_;
  std::vector<trace::SequenceView> sequences_;
  std::vector<std::optional<TimedCalls>> open_;
};

class RankFill {
 public:
  /// Adds to `cells`: columns × kinds. Borrows all.
  RankFill(RankCalls *calls, const Edges &edges, const Kinds &kinds, uint64_t *cells)
      : calls_(*calls), edges_(edges), kinds_(kinds), cells_(cells) {}
  /// Goes through at most so many calls. False: that was all.
  Result<bool> go_on(uint64_t most);
  [[nodiscard]] uint64_t walked() const { return walked_; }
  /// Sequences are closed when they are done, and read ahead.
  void once() { once_ = true; }

 private:
  Result<void> begin();
  void add(uint64_t begin_ns, uint64_t end_ns, size_t kind);
  void end_sequence(bool of_thread);

  RankCalls &calls_;
  Edges edges_;
  const Kinds &kinds_;
  uint64_t *cells_;
  bool once_ = false;
  size_t sequence_ = 0;
  TimedCalls *now_ = nullptr;
  std::optional<uint64_t> last_end_;  ///< of the thread's calls so far
  size_t column_ = 0;
  uint64_t walked_ = 0;
};

}  // namespace cairn::timeline
