// Strip: what ranks did over a window of time, in columns of equal length and lines of one or several ranks each: how
// much of it they were outside MPI, and in calls of which sort.
//
// From the times of single calls (a trace with `--timing lossless`, or within a bound), on the axis of the run. Calls
// nested in others are part of those. Of a rank with several threads all are summed.
// Cost: all calls of the ranks, from the beginning, on all cores; memory for the columns, of each core's rank too.
// Borrows the trace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "trace/read/trace.h"

namespace cairn::timeline {

enum class Doing : uint8_t {
  outside,     ///< MPI, between the first call of a thread and its last
  messages,    ///< calls that send, receive or probe
  completion,  ///< calls that complete requests, whatever these are of
  collective,
  one_sided,  ///< calls on windows
  files,
  init,  ///< MPI_Init and MPI_Finalize
  other,
};
constexpr size_t kDoings = 8;
/// "outside MPI", …
const char *name_of(Doing doing);
Doing doing_of(uint32_t function);

/// The time spent in each, over a column.
using Column = std::array<uint64_t, kDoings>;

struct Line {
  std::vector<uint32_t> ranks;
  std::vector<Column> columns;
};

struct Strip {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  std::vector<Line> lines;
  [[nodiscard]] uint64_t edge_ns(size_t column) const;  ///< where it begins; of one behind the last: the end
};

struct Wanted {
  std::vector<uint32_t> ranks;  ///< ascending
  uint64_t begin_ns = 0;
  uint64_t end_ns = UINT64_MAX;  ///< as far as the run goes
  size_t columns = 1;
  size_t lines = SIZE_MAX;  ///< at most so many: neighbours are taken together where there are more ranks
};

/// Fails where times cannot be read.
Result<Strip> strip_of(const trace::Trace &trace, const Wanted &wanted);

}  // namespace cairn::timeline
