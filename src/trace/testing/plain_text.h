// All of a small trace as plain text, for golden files and for comparison with read_trace.py, which writes the same.
//
// The text says what happened and not how it is kept: the distinct calls of a sequence, complete, have numbers of their
// own, in order of first occurrence, so that it is the same however rows are shared, split or moved into streams.
// Statistics, which are kept by row, follow in order of each row's first call, and begin with that call's number.
#pragma once

#include <string>

#include "trace/read/trace.h"

namespace cairn::trace {

std::string plain_text(const Trace &trace);

}  // namespace cairn::trace
