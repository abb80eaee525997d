// Check: is a run correct, as far as its trace tells? Faults that MPI forbids, found in the calls of all ranks: the
// kinds are those of MUST (T. Hilbrich, J. Protze, M. Schulz, B. de Supinski, M. Müller, "MPI runtime error detection
// with MUST: advances in deadlock detection", SC 2012).
//
// Arguments and leaks are judged by distinct calls (distinct_calls.h); for all other kinds the calls of all ranks are
// gone through side by side, once, as messages.h does, past the turns of loops that all ranks repeat alike
// (turns/left_out.h). One thread. Memory for what is in flight, for objects and requests that are there, and for
// distinct contents of messages.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analyze/sources.h"
#include "base/result.h"
#include "check/findings.h"
#include "trace/read/trace.h"

namespace cairn::check {

struct Report {
  std::vector<Finding> findings;
  std::vector<analyze::Place> places;
  uint64_t more = 0;                  ///< findings that were met after Findings::kMost others
  std::vector<std::string> left_out;  ///< what could not be judged, a line each
  uint64_t calls = 0;                 ///< of all ranks
  uint64_t repeated = 0;              ///< of them: stand for by others of turns that are equal
};

/// Is told, now and then, how many more calls of all ranks were gone through, of how many.
using Progress = std::function<void(uint64_t calls, uint64_t whole)>;
/// Fails where the calls, or the communicators, of the trace cannot be read. `every_call`: none stands for others.
Result<Report> check(const trace::Trace &trace, const analyze::Sources &sources, const Kinds &kinds,
                     bool every_call = false, const Progress &progress = {});

}  // namespace cairn::check
