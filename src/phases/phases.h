// Phases: what a run did when, over all ranks: the courses of all kinds of ranks (course.h) lined up, and for each
// phase when it began and ended, how many calls it makes, how many bytes these give, and what its time is.
//
// Parts of two kinds' courses are one phase if they call MPI at the same places for the most part, or in the same
// functions, and in loops as often; kinds are taken in one after the other, those of most ranks first, by an alignment
// (analyze/alignment.h). Only the first thread of each rank that calls MPI is looked at.
//
// Time: where the trace has each call's, a phase of a rank is from the end of the one before, the first one from the
// begin of the rank's first call, to the end of its last call, on the axis of the run (trace/read/axis.h). So time
// outside MPI before a call is of the phase of that call. Where the trace has statistics, of calls of one place and of
// the gaps before them, a place's are shared out evenly among its calls: how long a phase takes is told, not when it
// began, and no turns. Bytes are those that ranks give (traffic/flows.h), shared out in the same way.
//
// Cost: the compressed trace; all calls of the ranks where each has its time. One thread. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/filter.h"
#include "analyze/row_times.h"
#include "analyze/sources.h"
#include "base/result.h"
#include "phases/course.h"
#include "trace/read/trace.h"

namespace cairn::phases {

/// A moment on the axis, and the rank that it is of.
struct Moment {
  uint64_t ns = 0;
  uint32_t rank = 0;
};

/// How long turns of a loop took, over all ranks.
struct Turns {
  uint64_t count = 0;
  double mean_ns = 0;
  uint64_t least_ns = UINT64_MAX;
  uint64_t most_ns = 0;
  uint64_t most_turn = 0;  ///< from 0
  uint32_t most_rank = 0;
  double first_tenth_ns = 0;  ///< the mean of the first tenth of each rank's turns
  double last_tenth_ns = 0;
};

/// A phase on the ranks of one kind.
struct OnRanks {
  std::vector<uint32_t> ranks;  ///< ascending
  std::string turns;
  double calls = 0;  ///< of one rank
};

struct InnerLoop {
  size_t depth = 2;
  std::string place;
  std::string turns;
  double times = 1;          ///< how often it is come to, on a rank of the first kind that has it
  std::optional<double> ns;  ///< on such a rank in the mean: in MPI, and outside before the calls if that is known
};

struct Phase {
  What what = What::stretch;
  std::string place;  ///< as the first kind that has it says it, as all texts
  std::string turns;
  std::string note;
  std::vector<OnRanks> on;
  std::vector<uint32_t> lacking;  ///< ranks that do not have it
  double calls = 0;               ///< of all ranks together
  double bytes = 0;
  std::optional<double> mean_ns;          ///< of a rank, in MPI and outside
  std::optional<double> mpi_ns;           ///< of them in MPI, without MPI_Init and MPI_Finalize
  std::optional<uint32_t> most_function;  ///< in which most time was spent, without those two
  double most_ns = 0;                     ///< that time, of all ranks
  // Where the trace has the time of each call:
  std::optional<Moment> first_begin;
  std::optional<Moment> last_begin;
  std::optional<Moment> first_end;
  std::optional<Moment> last_end;
  std::optional<Turns> took;
  std::vector<InnerLoop> inner;
};

struct Run {
  std::vector<Phase> phases;
  std::vector<uint32_t> ranks;
  bool timed = false;       ///< times in MPI are known
  bool gaps = false;        ///< and those outside MPI
  bool each_timed = false;  ///< and moments
  bool threads = false;     ///< ranks have further threads, which are not looked at
  analyze::DamagedTimes damaged;
};

/// Fails as LoopFinder, summarise and each_traffic do.
Result<Run> phases_of(const trace::Trace &trace, const analyze::Sources &sources, const analyze::Filter &filter,
                      size_t depth);

}  // namespace cairn::phases
