// All of a small trace as plain text, for golden files and for comparison with read_trace.py, which writes the same.
#pragma once

#include <string>

#include "trace/trace.h"

namespace cairn::trace {

std::string plain_text(const Trace &trace);

}  // namespace cairn::trace
