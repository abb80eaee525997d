// Events of one rank in the order in which they happened: its threads' sequences expanded lazily and merged by tickets.
//
// Borrows the trace. Cost: O(1) amortised an event, memory for the distinct calls of a sequence; tickets and times of
// the rank's sequences are held in memory where the trace has them (one thread under stats has neither).
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

struct Event {
  uint32_t rank = 0;
  uint32_t thread = 0;
  uint32_t segment = 0;
  uint64_t index = 0;  ///< among the rank's events, from 0
  uint32_t class_index = 0;
  uint32_t row = 0;                    ///< of the class
  uint32_t call = 0;                   ///< number of the distinct call within its sequence (trace::CallReader)
  const trace::Row *values = nullptr;  ///< that call, complete; for the length of the visit
  bool timed = false;                  ///< where the timing mode keeps times
  uint64_t begin_ns = 0;               ///< since the rank's MPI_Init began
  uint64_t duration_ns = 0;
};

/// Calls `visit` for each event of `rank` until it returns false.
Result<void> for_each_event(const trace::Trace &trace, uint32_t rank, const std::function<bool(const Event &)> &visit);

}  // namespace cairn::analyze
