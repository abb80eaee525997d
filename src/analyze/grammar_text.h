// The grammars of a trace for people: per class its members, its rules and the rows that their symbols stand for.
#pragma once

#include <string>

#include "analyze/filter.h"
#include "analyze/sources.h"
#include "trace/read/trace.h"

namespace cairn::analyze {

/// A row is shown once for all its calls: arguments that differ between the members of the class or along time are
/// shown as "rank+1" where that holds for all, else as "*". --function and --time do not apply; --rank chooses classes,
/// and --limit how many.
std::string grammar_text(const trace::Trace &trace, const Sources &sources, const Filter &filter);

}  // namespace cairn::analyze
