// Steps: which turn of the program's main loop a call belongs to.
//
// Most parallel programs repeat one time step. The grammar of a sequence has that as a loop: of the loops that stand in
// no other, the one that holds the most rows. Its turns are the steps, from 0 on. Where a turn begins is the grammar's
// choice: what a program does at the end of a step may stand at the beginning of the next. What comes before and after
// the loop is in no step, nor is anything of a program without loops. A program whose steps differ regularly (output in
// each tenth) has a loop of ten steps, and a turn is these ten.
//
// ScalaTrace calls this the time-step loop (Noeth et al., JPDC 2009, section 2).
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "trace/read/events.h"

namespace cairn::trace {

struct Steps {
  uint64_t first = 0;   ///< where in the sequence of rows the first begins
  uint64_t length = 0;  ///< rows of each
  uint64_t count = 0;
  /// The step that a row is in.
  [[nodiscard]] std::optional<uint64_t> of(uint64_t row_place) const;
};

/// nullopt: nothing is repeated. Cost: the terms of the grammar.
std::optional<Steps> steps_of(const grammar::Grammar &calls);

/// The steps of one rank's calls, which are given in their order. What a long run wrote in several segments goes on
/// counting. Each thread has its own.
class StepCounter {
 public:
  explicit StepCounter(const Trace &trace) : trace_(&trace) {}
  std::optional<uint64_t> of(const Event &event);

 private:
  struct Thread {
    std::optional<uint32_t> segment;
    std::optional<Steps> steps;
    uint64_t before = 0;  ///< steps of earlier segments
  };
  const Trace *trace_;
  std::map<uint32_t, Thread> threads_;
};

}  // namespace cairn::trace
