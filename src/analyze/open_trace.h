// Opening a trace that a user names: what is no trace at all is told in words that lead on.
#pragma once

#include <string>

#include "base/result.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

/// Why `path` cannot be a trace: it is not there, a folder, empty; nothing if it may be one.
Result<void> may_be_trace(const std::string &path);
/// The trace there, whole.
Result<trace::Trace> open_trace_at(const std::string &path);

}  // namespace cairn::analyze
