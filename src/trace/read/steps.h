// Steps: which turn of the program's main loop a call belongs to.
//
// Most parallel programs repeat one time step. The grammar of a sequence has that as a loop: of the loops that stand in
// no other, the one that holds the most rows. Its turns are the steps, from 0 on. Where a turn begins is the grammar's
// choice: what a program does at the end of a step may stand at the beginning of the next. The rows right before the
// loop are the first step if they are what most of a turn ends with, and those right after it the last if most of a
// turn begins like that: a first and a last time often lack something. What else is outside the loop is in no step, nor
// is anything of a program without loops. A program whose steps differ regularly (output in each tenth) has a loop of
// ten steps, and a turn is these ten.
//
// ScalaTrace calls this the time-step loop (Noeth et al., JPDC 2009, section 2).
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "trace/read/events.h"

namespace cairn::trace {

struct Steps {
  uint64_t first = 0;   ///< where in the sequence of rows the first whole turn begins
  uint64_t length = 0;  ///< rows of each
  uint64_t turns = 0;
  uint64_t before = 0;  ///< rows before them that are a step as well
  uint64_t after = 0;   ///< likewise
  [[nodiscard]] uint64_t count() const { return turns + (before != 0 ? 1 : 0) + (after != 0 ? 1 : 0); }
  /// The step that a row is in.
  [[nodiscard]] std::optional<uint64_t> of(uint64_t row_place) const;
};

/// nullopt: nothing is repeated. Cost: the terms of the grammar, and the rows of a turn.
std::optional<Steps> steps_of(const grammar::Grammar &calls);

/// Of the thread of the rank that has most; 0: nothing is repeated.
uint64_t step_count(const Trace &trace, uint32_t rank);

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
    uint64_t earlier = 0;  ///< steps of earlier segments
  };
  const Trace *trace_;
  std::map<uint32_t, Thread> threads_;
};

}  // namespace cairn::trace
