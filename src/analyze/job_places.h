// The jobs of a trace, also where it is of one: whose ranks are whose (trace/read/join_jobs.h).
#pragma once

#include <cstddef>
#include <vector>

#include "trace/read/trace.h"

namespace cairn::analyze {

/// By their ranks; at least one.
inline std::vector<trace::Trace::JobPlace> job_places(const trace::Trace &trace) {
  std::vector<trace::Trace::JobPlace> places = {trace.job_of(0)};
  for (size_t job = 1; job < trace.run().jobs.size(); ++job) {
    places.push_back(trace.job_of(trace.run().jobs[job].first));
  }
  return places;
}

}  // namespace cairn::analyze
