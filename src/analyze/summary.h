// Summary: what a program spent in MPI, by function, by call site or by rank, from multiplicities and columns: nothing
// is expanded unless the trace holds the time of every call, which has to be read to be summed.
//
// A rank's time is in three parts: outside MPI, in MPI, and in MPI_Init and MPI_Finalize, which stand apart since they
// are no communication. Where a rank has several threads that call MPI, each of them has the rank's whole time: shares
// stay below 100 %, and a thread that lived shorter counts as outside MPI.
//
// Under `stats` timing a class's statistics are merged over its ranks. What each rank spent in each function is there
// beside them, within 0.002 % (trace/merge/function_sums.h); of single call sites of a selection of ranks times are
// known only when it covers whole classes. Traces from before that section estimate the imbalance of a function that
// has several signatures. What a filter chooses by the values of calls is counted exactly; its times are known where it
// takes all calls of a function at a site, on whole classes.
//
// How long calls took is told by percentiles: estimates from the histograms of statistics, and exact ones of calls
// whose times the trace has (timing/percentiles.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/filter.h"
#include "analyze/outcome.h"
#include "analyze/row_times.h"
#include "analyze/sources.h"
#include "timing/percentiles.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

/// What a rank spent in some calls.
struct OfRank {
  uint32_t rank = 0;
  uint64_t ns = 0;
  bool is_estimate = false;  ///< the rank, too
};

enum class GroupBy : uint8_t { function, call_site, rank };

struct SummaryLine {
  uint32_t function = 0;                  ///< by function and call site
  Position position;                      ///< by call site
  std::vector<Position> callers;          ///< by call site, the innermost first, where call stacks were kept
  uint32_t rank = 0;                      ///< by rank
  std::string host;                       ///< by rank
  uint64_t run_ns = 0;                    ///< by rank: of all its threads
  uint64_t outside_ns = 0;                ///< by rank: outside MPI
  std::optional<uint64_t> apart_ns;       ///< by rank: in MPI_Init and MPI_Finalize, which time_ns then does not hold
  std::optional<uint32_t> most_function;  ///< by rank: in which it spent most time, those two aside
  uint64_t most_ns = 0;
  uint64_t calls = 0;
  uint64_t failed = 0;  ///< of them
  uint64_t ranks = 0;   ///< how many ranks make it
  bool moves = false;   ///< this function moves bytes
  uint64_t bytes = 0;   ///< of the calls whose size is known
  uint64_t unsized_calls = 0;
  bool timed = true;  ///< false: the times below are not known
  uint64_t time_ns = 0;
  uint64_t longest_ns = 0;
  std::optional<timing::Percentiles> percentiles;  ///< by function and call site: how long the calls took
  /// The ranks that spent least and most time in the calls, of those that make them; of equal ones the lowest. By
  /// function and call site.
  std::optional<OfRank> least;
  std::optional<OfRank> most;
  /// What `most` spent over the mean of all ranks that make the call; 1 is balanced.
  std::optional<double> imbalance;
};

/// A parameter whose length grows with the ranks: the call will not scale.
struct RedFlag {
  uint32_t function = 0;
  std::string parameter;
  uint64_t elements = 0;
  Position position;
  bool by_definition = false;  ///< its length is the communicator's size; else it merely equals the number of ranks
};

struct Summary {
  GroupBy group = GroupBy::function;
  std::vector<SummaryLine> lines;  ///< longest time first, then most calls
  std::vector<RedFlag> flags;
  uint64_t calls = 0;
  Failures failures;      ///< of them
  bool filtered = false;  ///< `calls`, `failures` and the lines are of some calls only; what follows is of all
  uint64_t run_ns = 0;    ///< the time of all threads of the ranks looked at, of which each ns is in one of these:
  uint64_t outside_ns = 0;
  uint64_t mpi_ns = 0;               ///< in MPI; without what is apart, where that is known
  std::optional<uint64_t> apart_ns;  ///< in MPI_Init and MPI_Finalize
  double mpi_imbalance = 1;
  double outside_imbalance = 1;  ///< most of a rank over the mean, as in MPI
  uint32_t slowest_rank = 0;     ///< the one that was outside MPI longest: others wait for it
  uint64_t slowest_ns = 0;       ///< how long
  std::string within;            ///< how near the lines' times are to what they were: "within 10%", "" if exact
  bool times_missing = false;    ///< some line has no times because of how they were recorded
  DamagedTimes damaged;          ///< are in no sum
};

/// MPI_Init, MPI_Init_thread or MPI_Finalize: what stands apart.
bool is_apart(uint32_t function);

/// Whether lines say how many bytes their calls move (bytes_moved.h), or that is not needed.
enum class LineBytes : uint8_t { counted, left_out };

Result<Summary> summarise(const trace::Trace &trace, const Sources &sources, const Filter &filter, GroupBy group,
                          LineBytes bytes = LineBytes::counted);

}  // namespace cairn::analyze
