// Extrapolation: a trace of a run that was never made, from traces of the same program on fewer ranks (or of fewer
// steps). What is learned and how is told by program.h, law.h, course.h and times.h; here the parts meet.
//
// The trace is an ordinary one: its ranks' recordings are made up and merged as those of a run are. What it says of the
// run is "extrapolated", and the notes on its ranks tell from which runs, how much is certain and what was drawn.
//
// Cost: the calls of the given runs, and for each rank of the new one its rows and what differs from turn to turn.
// Plain function; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "extrapolate/program.h"
#include "trace/read/trace.h"

namespace cairn::extrapolate {

struct Given {
  const trace::Trace *trace = nullptr;
  std::string path;
  int64_t scale = 0;  ///< what the runs differ in, if it is not their ranks; else 0
};

struct Target {
  uint32_t ranks = 0;
  int64_t scale = 0;  ///< as in Given
};

struct Extrapolated {
  Bytes file;
  Certainty certainty;
  uint64_t rounded = 0;            ///< values that did not come out even
  uint64_t failed = 0;             ///< laws that gave what no call can have
  std::optional<double> residual;  ///< of the times
  std::vector<std::string> notes;  ///< as they stand in the trace
  std::vector<std::string> laws;   ///< what was learned, a line for each item and value that is no constant
};

/// An error says which of the traces does not fit, and why.
Result<Extrapolated> extrapolated(std::vector<Given> given, const Target &target);

}  // namespace cairn::extrapolate
