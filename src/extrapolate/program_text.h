// A program that was learned, as text: its loops and calls, and the law of each value that is no constant. For who
// wants to know why a trace was extrapolated so. Plain function; cost: the rules.
#pragma once

#include <string>
#include <vector>

#include "extrapolate/program.h"

namespace cairn::extrapolate {

std::vector<std::string> laws_of(const Program &program);

}  // namespace cairn::extrapolate
