// SizeDiff: what a rank does on average at each call site, in two runs of one program on other numbers of ranks.
//
// Rank by rank such runs have nothing in common: who is 5 among 16 is another part of the problem than who is 5 among
// 64. Per rank that makes a call, how often it does and how many bytes a call moves tell how the program scales. Call
// sites are paired by function and source line; where these are not known by place in the program file; and what is
// left of a function, where both runs have as many such sites, in their order (two builds of one program).
// Plain values. Cost: two summaries (summary.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/sources.h"
#include "base/result.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

/// What all ranks of one run do at a call site.
struct SiteUse {
  Position position;
  uint64_t ranks = 0;  ///< that call there
  uint64_t calls = 0;
  bool moves = false;            ///< the function moves bytes, which are
  uint64_t bytes = 0;            ///< of the calls whose size is known,
  uint64_t sized = 0;            ///< which are so many
  std::optional<uint64_t> ns{};  ///< where it is known

  [[nodiscard]] double calls_a_rank() const { return static_cast<double>(calls) / static_cast<double>(ranks); }
  [[nodiscard]] double ns_a_rank() const { return static_cast<double>(ns.value_or(0)) / static_cast<double>(ranks); }
  [[nodiscard]] double bytes_a_call() const {
    return sized == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(sized);
  }
};

struct SiteChange {
  uint32_t function = 0;
  std::optional<SiteUse> first;
  std::optional<SiteUse> second;
  /// Both ranks that call there call as often, with as many bytes a call.
  [[nodiscard]] bool same() const;
};

/// Sums over the ranks of a run.
struct RunUse {
  uint64_t ranks = 0;
  uint64_t calls = 0;
  uint64_t run_ns = 0;      ///< the longest of a rank
  uint64_t outside_ns = 0;  ///< MPI
  uint64_t mpi_ns = 0;      ///< without MPI_Init and MPI_Finalize, where that is known
  std::optional<uint64_t> apart_ns;
};

struct SizeDiff {
  RunUse first;
  RunUse second;
  std::vector<SiteChange> sites;  ///< what most time went to in the second run first, then what only the first has
};

Result<SizeDiff> size_diff(const trace::Trace &first, const trace::Trace &second);

}  // namespace cairn::analyze
