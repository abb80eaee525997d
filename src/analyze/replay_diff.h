// ReplayDiff: whether a recording of a replay (or of a proxy application) has the calls of the trace that was replayed:
// the same functions in the same order on every thread of every rank, with the same arguments and the same messages.
//
// Names are not compared, since a replay calls from other places and has its memory elsewhere, but what they mean:
// - A handle is the object that the call made which gave it. Where both sides make one in equal calls their names
// belong
//   together, until it is given up; names that recur, and objects that are looked up several times, are counted.
// - A thread's number is chance: threads are matched by the calls that they make.
// - A region of memory (a segment of the heap, a stack, the data of a module) of the first side belongs to that of the
//   second that it was met with first, shifted by as much; a segment until it ends. Functions of the program are any
//   functions.
// Not compared: call sites; error codes beyond their class; the command line; the clock; names of processors and
// libraries; folders of files; polls that found nothing. Of MPI_Waitany and its like only the requests that completed
// are. A receive from anybody is equal to one that asks for the source and the tag that it got; such are counted.
//
// Cost: the calls of both, about 1 µs each; memory for distinct calls and living objects of one rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/decode.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

struct ReplayDifference {
  uint32_t rank = 0;
  uint32_t thread = 0;
  uint64_t index = 0;              ///< among the calls of the thread that count, from 0
  std::vector<std::string> names;  ///< of the arguments that differ, "return"; empty: another function, or none
  std::optional<Call> first;       ///< nothing: the thread had ended
  std::optional<Call> second;
};

struct ReplayDiff {
  uint64_t ranks = 0;   ///< that were compared
  uint64_t calls = 0;   ///< the same
  uint64_t forced = 0;  ///< receives from anybody that the second side asked for by name
  /// The first difference of each thread that has one.
  std::vector<ReplayDifference> differences;
  /// Ranks that only one side has.
  std::vector<uint32_t> only_first;
  std::vector<uint32_t> only_second;
  [[nodiscard]] bool equal() const { return only_first.empty() && only_second.empty() && differences.empty(); }
};

/// `ranks`: those to look at; empty: all.
ReplayDiff replay_diff(const trace::Trace &first, const trace::Trace &second, const std::vector<uint32_t> &ranks);

}  // namespace cairn::analyze
