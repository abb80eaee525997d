// Ranks: how much each rank of a run does and how long it takes, which classes of ranks there are, and what sets each
// class apart.
//
// A *class* is all ranks whose threads make the same calls, by function and place, in the same order (the kinds of
// analyze/loops.h, of all threads of a rank together): of a stencil the inner ranks are one class, each edge another.
// What sets a class apart is told against the most similar other one (difference.h), of the kSimilar of most ranks.
//
// Bytes are those that a rank gives: its messages and one-sided access, and what it puts into collective operations
// (traffic/flows.h). Times are sums over a rank's threads: in MPI, without MPI_Init and MPI_Finalize where these are
// known apart, and outside MPI (analyze/summary.h).
//
// The percent imbalance is (most - mean) / most * n / (n - 1) of n ranks: 0 where all are equal, 100 where one has all
// (DeRose, Homer, Johnson: Detecting application load imbalance on high end massively parallel systems, Euro-Par 2007).
//
// Cost: the compressed trace, and what is kept of each rank; all calls where the trace has the time of each, or where
// the traffic has to go through them (traffic/traffic.h). One thread. Plain values after `ranks_of`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/filter.h"
#include "analyze/row_times.h"
#include "analyze/sources.h"
#include "base/result.h"
#include "trace/read/trace.h"
#include "traffic/traffic.h"

namespace cairn::ranks {

struct RankLine {
  uint32_t rank = 0;
  uint32_t class_number = 0;
  std::string host;  ///< "" if that is not known
  uint64_t calls = 0;
  uint64_t bytes = 0;    ///< of those whose size is known
  uint64_t unsized = 0;  ///< messages and collective calls whose size is not
  bool timed = false;    ///< mpi_ns is known
  uint64_t outside_ns = 0;
  uint64_t mpi_ns = 0;
};

/// Of one number over ranks.
struct Spread {
  double mean = 0;
  uint64_t least = 0;
  uint64_t most = 0;
  uint32_t least_rank = 0;  ///< of equal ones the lowest
  uint32_t most_rank = 0;
  double over_mean = 1;  ///< the most, over the mean; 1 where all are 0
  double percent = 0;    ///< of imbalance; 0 of a single rank
};
/// Of the lines' `number`; there must be a line.
Spread spread_of(const std::vector<const RankLine *> &lines, uint64_t RankLine::*number);

struct RankClass {
  std::vector<uint32_t> ranks;  ///< of those looked at, ascending
  uint32_t threads = 1;
  Spread calls;
  Spread bytes;
  std::optional<Spread> outside;  ///< nothing: times are not known
  std::optional<Spread> in_mpi;
  std::optional<uint32_t> similar;       ///< the most similar other class, where it was looked for
  std::vector<std::string> differences;  ///< from that, those of most calls first
};

struct Ranks {
  std::vector<RankLine> ranks;     ///< ascending
  std::vector<RankClass> classes;  ///< most ranks first
  bool timed = false;              ///< the trace has times
  Spread calls;                    ///< over all ranks, as what follows
  Spread bytes;
  std::optional<Spread> outside;
  std::optional<Spread> in_mpi;
  traffic::Seen seen;
  analyze::DamagedTimes damaged;  ///< are in no sum
};

/// Against how many classes each is held.
constexpr size_t kSimilar = 64;

/// `most_classes`: of how many classes it is told what sets them apart. Fails as each_traffic and summarise do; nothing
/// is told of classes whose calls are too irregular to find loops in.
Result<Ranks> ranks_of(const trace::Trace &trace, const analyze::Sources &sources, const analyze::Filter &filter,
                       size_t most_classes);

}  // namespace cairn::ranks
