// A program in C that makes the calls of a trace again: its files. One function a rule, loops for counts, expressions
// for what differs between ranks, so that its size is in proportion to the trace's, not to calls or ranks (Pilgrim,
// section 3, in the shape of its Figure 15).
//
// One thread. Cost: the rows, rules, columns and streams of all classes; where there are receives from anybody also the
// calls of their ranks.
#pragma once

#include <string>
#include <vector>

#include "analyze/sources.h"
#include "base/result.h"
#include "proxy/program.h"
#include "trace/read/trace.h"

namespace cairn::proxy {

struct ProxyFile {
  std::string name;
  std::string text;
};

struct Proxy {
  std::vector<ProxyFile> files;
  size_t own_lines = 0;  ///< of what is made for this trace
  size_t own_bytes = 0;
  size_t parts = 0;
  size_t processes = 0;            ///< that it is started with
  KeptRanks::Losses losses;        ///< where ranks are left out
  std::vector<std::string> newer;  ///< functions that an MPI 3.1 library lacks
};

/// A usage error that lists the calls, if some cannot be made again; `name`: of the trace, to be told in README.md.
Result<Proxy> generate(const trace::Trace &trace, const analyze::Sources &sources, const Settings &settings,
                       const std::string &name);

}  // namespace cairn::proxy
