// LeftOut: the turns of loops that a replay of all ranks' messages may go past, when only what calls do is asked and
// not when: thousands of turns are judged by a few.
//
// Loops whose turns are equal are found in the grammars (trace/read/repeats.h); what a turn does to whom is read from a
// few of them (ledger.h); how many may go of each loop, so that all ranks still match, follows from these (balance.h).
// This is how messages are matched without expanding the calls: what meets in a turn meets in all of them, class
// against class and loop against loop, and where a rank does not fit the others all its calls are gone through.
//
// Nothing is left out of runs with calls that are missing, of ranks with several threads, of loops with one-sided
// access (which is judged by when it was), and where it would save less than half of the calls.
//
// Who wants a part of the run that begins at some time leaves out turns before it: both sides of a channel lose as many
// messages, so those of the part still meet their own.
//
// Plain value. Cost: the terms of the grammars, and of each loop six turns.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyze/messages.h"
#include "base/result.h"
#include "trace/read/trace.h"

namespace cairn::turns {

struct Asked {
  const std::vector<uint32_t> *ranks = nullptr;  ///< of analyze::ReplayPart
  bool meetings = true;                          ///< analyze::Arrivals::wants_meetings
  /// Only turns that ended before. What is told of calls that end later, and of the messages that they send and
  /// receive, is then as if none had been left out.
  std::optional<uint64_t> before_ns{};
};

class LeftOut {
 public:
  LeftOut() = default;  ///< nothing
  /// Fails where calls cannot be read.
  static Result<LeftOut> of(const trace::Trace &trace, const analyze::Messages &messages, const Asked &asked = {});

  [[nodiscard]] const analyze::Cuts &cuts() const { return cuts_; }
  /// How many calls one stands for that is gone through: itself and, in the last turn before those that are left out,
  /// one in each of these.
  [[nodiscard]] uint64_t stands_for(uint32_t rank, uint64_t call) const;
  /// How many calls of all ranks that were asked for.
  [[nodiscard]] uint64_t left_out() const { return left_out_; }
  /// How many of them, before the time that was asked for, are still gone through.
  [[nodiscard]] uint64_t rest() const { return rest_; }

 private:
  struct Turn {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t stands_for = 1;
  };
  analyze::Cuts cuts_;
  std::map<uint32_t, std::vector<Turn>> turns_;  ///< by rank, ascending
  uint64_t left_out_ = 0;
  uint64_t rest_ = 0;
};

}  // namespace cairn::turns
