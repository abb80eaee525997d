// Steps: which turn of the program's main loop a call belongs to.
//
// Most parallel programs repeat one time step. A thread's calls are a grammar, of rows that differ in where they were
// made and in their arguments, and in it the loop that holds most of them is looked for:
//
// 1. The rule or call that covers most of the sequence, counting every time that it stands there, so that a call in
//    between now and then does not end the loop.
// 2. Within it the loop that it mostly consists of, as long as that has three quarters of its different calls,
// arguments
//    counted: a program that prints in each tenth step has a loop of ten steps, and the steps are meant; a step that
//    repeats an exchange for each neighbour stays whole.
//
// Its turns are the steps, from 0 on. What stands between two of them belongs to the one before, or is a step by itself
// if it is about as long: a turn that goes another way. The calls after the last are one more if most of a turn begins
// like them: the last time often lacks something. Where a turn begins follows from the calls: what a program does at
// the end of a step may stand at the beginning of the next.
//
// Where that covers less than half of the calls, arguments may differ too much: the same is tried with where the calls
// were made alone. So a loop whose buffers alternate has steps of two turns, but one that loops over its neighbours at
// one call site has steps of all of them. All this is a guess: who knows the program names the call that each step
// begins with.
//
// ScalaTrace looks for time-step loops in the same way, by call sites (Noeth et al., JPDC 2009, section 2).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "trace/read/events.h"

namespace cairn::trace {

/// Where the loop stands more often, with something between each time, there are no steps.
constexpr uint64_t kMostSteps = uint64_t{1} << 22;

struct Step {
  uint64_t begin = 0;  ///< places in the sequence
  uint64_t end = 0;
};

/// In order. Memory for each stretch of steps that are as long and follow each other. A question costs its logarithm.
class Steps {
 public:
  /// Behind the others; `count` of them, of that length each.
  void add(uint64_t begin, uint64_t length, uint64_t count = 1);
  /// The last one ends there, not earlier than it began.
  void end_last(uint64_t end);
  [[nodiscard]] uint64_t count() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// `step` below `count`.
  [[nodiscard]] Step at(uint64_t step) const;
  /// The one that a place belongs to.
  [[nodiscard]] std::optional<uint64_t> of(uint64_t place) const;
  /// Places that belong to some.
  [[nodiscard]] uint64_t covered() const { return covered_; }

 private:
  struct Stretch {
    uint64_t first = 0;  ///< step
    uint64_t begin = 0;
    uint64_t length = 0;  ///< of each but the last
    uint64_t end = 0;
  };
  std::vector<Stretch> stretches_;
  uint64_t count_ = 0;
  uint64_t covered_ = 0;
};

/// Empty: nothing is repeated. `rows`: numbers of the calls that say which are equal, arguments counted; empty if that
/// is not known. Cost: the terms of the grammar, the stretches of steps and the calls of one.
Steps steps_of(const grammar::Grammar &calls, const std::vector<grammar::Symbol> &rows);
/// One begins wherever `begins` holds, and lasts until the next.
Steps steps_at(const std::vector<grammar::Symbol> &calls, const std::function<bool(grammar::Symbol)> &begins);

/// The steps of one rank's calls, which are given in their order. Each thread has its own.
class StepCounter {
 public:
  /// Whether a step begins with the calls of that function at that site of the class.
  using Begins = std::function<bool(uint32_t class_index, uint32_t function, uint32_t site)>;

  /// `begins`: empty to look for the main loop. Cost: the calls of the rank, without their values.
  StepCounter(const Trace &trace, uint32_t rank, const Begins &begins);
  [[nodiscard]] std::optional<uint64_t> of(const Event &event) const;
  /// Of the thread that has most.
  [[nodiscard]] uint64_t count() const;
  /// A row of a sequence (Events::index_of_row).
  struct Place {
    uint32_t thread = 0;
    uint32_t segment = 0;
    uint64_t row = 0;
  };
  /// Where step `step` begins, in each thread that has it.
  [[nodiscard]] std::vector<Place> begins(uint64_t step) const;

 private:
  struct Thread {
    std::map<uint32_t, uint64_t> segments;  ///< where each begins in the sequence of all
    Steps steps;
  };
  std::map<uint32_t, Thread> threads_;
};

}  // namespace cairn::trace
