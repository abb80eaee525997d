// Which of a program's handles are there once at a time, so that a plain variable can have them: what one call made
// is given up before that call makes another one, and no value that changes along ranks or time names it. All others
// are queues (support/handles.c).
//
// How many there are at a time is told by the grammar, rule by rule, no call is expanded. Plain function. Cost: the
// rows of all classes; the rules, times the handles that calls in them make.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "analyze/row_access.h"
#include "analyze/sources.h"
#include "spec/spec.h"
#include "trace/read/trace.h"

namespace cairn::proxy {

/// A handle's kind, and the call that made it; of a communicator its number alone.
using HandleKey = std::pair<spec::Kind, analyze::HandleName>;
HandleKey handle_key(spec::Kind kind, analyze::HandleName name);

/// Each of them with the place in the source where it was made: "app.c:12".
std::map<HandleKey, std::string> single_handles(const trace::Trace &trace, const analyze::Sources &sources);

}  // namespace cairn::proxy
