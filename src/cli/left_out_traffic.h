// What the verbs that tell traffic say of what they had to leave out, and of what they had to expand.
#pragma once

#include "trace/read/trace.h"
#include "traffic/traffic.h"

namespace cairn::cli {

void say_left_out(const traffic::Seen &seen, const trace::Trace &trace);

}  // namespace cairn::cli
