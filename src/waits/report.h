// What an analysis of waiting gives: how long ranks waited in their calls, for which calls of others, whose doing that
// was in the end, the critical path, and how efficient the run was.
//
// All times are in nanoseconds, from the end of each rank's MPI_Init to the begin of its MPI_Finalize, on the axis of
// the run. Plain values.
//
// The kinds of waiting are those of Scalasca (M. Geimer et al., "A scalable tool architecture for diagnosing wait
// states in massively parallel applications", Parallel Computing 35, 2009); the efficiencies are those of POP.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyze/filter.h"
#include "analyze/messages.h"
#include "waits/activities.h"
#include "waits/timeline.h"

namespace cairn::waits {

enum class Pattern : uint8_t {
  late_sender,     ///< the call that received, or completed a receive, began before the send did
  wrong_order,     ///< the same, and a message sent earlier was there already, which is received later
  late_receiver,   ///< the call that sent, or completed a send, began before the receive was posted, and outlasted that
  late_root,       ///< MPI_Bcast, MPI_Scatter: the root came later
  early_root,      ///< MPI_Reduce, MPI_Gather: others came later than the root
  wait_all,        ///< MPI_Allreduce, MPI_Alltoall, MPI_Comm_dup, MPI_Win_create and their like: others came later
  wait_barrier,    ///< MPI_Barrier: others came later
  early_scan,      ///< MPI_Scan, MPI_Exscan: some of lower rank came later
  wait_neighbors,  ///< collectives among neighbours: some of those who send came later
  wait_fence,      ///< MPI_Win_fence: others came later
  late_post,       ///< MPI_Win_start or MPI_Win_complete began before MPI_Win_post at the target, and outlasted that
  early_wait,      ///< MPI_Win_wait: others came to MPI_Win_complete later
  lock_contention,     ///< MPI_Win_lock: another rank gave back a lock meanwhile that excludes the own one
  all_completion,      ///< in an MPI_Allreduce or its like after the first had left it
  barrier_completion,  ///< the same of MPI_Barrier
};
constexpr size_t kPatterns = 15;
/// "late sender", …
const char *name_of(Pattern pattern);
/// Whether somebody else's call is what was waited for.
constexpr bool has_culprit(Pattern pattern) { return pattern < Pattern::all_completion; }

/// Where it was longest.
struct Longest {
  uint64_t ns = 0;
  uint32_t rank = 0;
  uint64_t call = 0;     ///< of that rank
  uint32_t culprit = 0;  ///< a rank
};

struct WaitLine {
  Pattern pattern = Pattern::late_sender;
  uint32_t victim = 0;   ///< a place: the call that waited
  uint32_t culprit = 0;  ///< a place: the call that it waited for; of a completion the same as the victim
  uint64_t count = 0;
  uint64_t ns = 0;
  Longest longest;
};

/// Whose doing waiting was in the end.
struct CauseLine {
  Activity activity = kUnknownActivity;
  uint64_t ns = 0;  ///< that others waited meanwhile
  /// The rank that did most of it, and how much.
  uint32_t rank = 0;
  uint64_t rank_ns = 0;
  uint32_t ranks = 0;  ///< how many did it
};

struct PathLine {
  Activity activity = kUnknownActivity;
  uint64_t ns = 0;       ///< on the critical path
  uint64_t mean_ns = 0;  ///< of a rank
  uint32_t rank = 0;     ///< which has most of it on the path
  uint64_t rank_ns = 0;
};

struct RankLine {
  uint32_t rank = 0;
  uint64_t run_ns = 0;
  uint64_t outside_ns = 0;
  std::array<uint64_t, kPatterns> waited_ns{};  ///< by pattern
  uint64_t blamed_ns = 0;                       ///< that others waited for what it did
  uint64_t path_ns = 0;                         ///< on the critical path
  /// Without what is no wait for somebody else.
  [[nodiscard]] uint64_t all_waited_ns() const;
};

/// POP's factors: nullopt where nothing was measured.
struct Efficiency {
  uint64_t run_ns = 0;    ///< T: from the first end of an MPI_Init to the last begin of an MPI_Finalize
  uint64_t ideal_ns = 0;  ///< T0: the same where messages take no time
  double mean_outside_ns = 0;
  uint64_t most_outside_ns = 0;
  uint32_t most_outside_rank = 0;
  [[nodiscard]] double load_balance() const;
  [[nodiscard]] double serialisation() const;
  [[nodiscard]] double transfer() const;
  [[nodiscard]] double communication() const;
  [[nodiscard]] double parallel() const;
};

struct Report {
  std::vector<Place> places;
  std::vector<WaitLine> lines;    ///< the longest first
  std::vector<CauseLine> causes;  ///< the longest first
  std::vector<PathLine> path;     ///< the longest first
  std::vector<RankLine> ranks;    ///< by rank
  Efficiency efficiency;
  uint64_t path_ns = 0;    ///< its length
  uint32_t path_rank = 0;  ///< where it ends
  analyze::MessageCounts counts;
  uint64_t reversed = 0;      ///< messages that arrived before they were sent, by the clocks
  uint64_t with_threads = 0;  ///< ranks that call MPI from several threads
  uint64_t cut_short = 0;     ///< ranks that did not complete
  [[nodiscard]] uint64_t waited_ns(Pattern pattern) const;
  [[nodiscard]] uint64_t all_waited_ns() const;
};

/// Nothing, or why there is no analysis of waiting: the trace has no times of single calls, or no axis of time for all
/// ranks. `asker`: what asks, for the error.
Result<void> can_analyse(const trace::Trace &trace, const std::string &asker);
/// Which calls' waiting is asked for; empty: that of all.
using Victims = std::function<bool(const analyze::CallTime &)>;
/// `trace` must have the times of single calls. Of `victims` alone is told how long they waited, for what and whose
/// doing that was; the path and the efficiency are the run's. Fails where times, or communicators, cannot be read.
/// Cost: all calls of all ranks, once; memory for messages in flight, for what ranks did while some rank waits, and for
/// each pair of calls that wait for each other.
Result<Report> analyse(const trace::Trace &trace, const analyze::Sources &sources, const Victims &victims = {});
/// The same of the waiting of those ranks and calls that a filter chooses, by rank, function, site and time; ranks that
/// it leaves out have no line.
Result<Report> analyse(const trace::Trace &trace, const analyze::Sources &sources, const analyze::Filter &filter);
/// Whether it chooses some.
bool chooses_victims(const analyze::Filter &filter);
/// As much of the efficiency as sums of times tell: all but what an ideal network would change. `asker`: as above.
/// Fails where the trace has no times at all.
Result<Efficiency> efficiency_of_sums(const trace::Trace &trace, const std::string &asker);

}  // namespace cairn::waits
