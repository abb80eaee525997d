// ThreadEvents: where threads of the program began and ended, between the calls of one sequence as they are gone
// through.
//
// A thread's events stand in the sequence of the thread that made it, or waited for its end: what stands before its
// begin there came before all that it did, and what stands behind its end came after all of that. In the thread's own
// sequence, which others of its number share, they part its calls from those of the others (docs/format.md, "heap").
//
// What a damaged or foreign trace says is passed on only if it can be. Owns what it needs of the trace. One thread.
// Cost: as a walk through the grammar of the events.
#pragma once

#include <cstdint>
#include <optional>

#include "grammar/grammar.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

class ThreadEvents {
 public:
  /// Nothing ever happens.
  ThreadEvents() = default;
  ThreadEvents(const trace::Trace &trace, const trace::SequenceView &sequence);

  /// Before each call: calls `happens(event)` for each event that stands there, in order.
  template <typename Happens>
  void before_call(Happens happens) {
    if (!next_) return;
    for (; next_ && left_ == 0; go_on()) happens(*next_);
    if (next_) --left_;
  }
  /// After the last call of the sequence.
  template <typename Happens>
  void at_end(Happens happens) {
    for (; next_; go_on()) happens(*next_);
  }

 private:
  void go_on();

  std::optional<trace::HeapHistory> history_;
  std::optional<grammar::Walker> walker_;
  std::optional<trace::ThreadEvent> next_;
  uint64_t left_ = 0;  ///< calls before it
};

}  // namespace cairn::analyze
