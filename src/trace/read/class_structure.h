// A class of an open trace as it is kept: rules, rows, columns along its ranks, streams along time. For who writes
// something of the same shape (a program that makes the same calls); who wants calls begins with events.h.
#pragma once

#include <cstdint>

#include "trace/model/class_part.h"
#include "trace/read/trace.h"

namespace cairn::trace {

/// The class `index`, which must exist. Lives as long as the trace. Modules in static addresses are numbered as each
/// rank numbers its own.
const ClassPart &class_structure(const Trace &trace, uint32_t index);

}  // namespace cairn::trace
