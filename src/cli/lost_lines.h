// Lines about processes that were killed, or could not hand over what they recorded, and of which the spool could keep
// nothing.
#pragma once

#include <string>
#include <vector>

#include "spool/contents.h"

namespace cairn::cli {

/// One for each reason; none where nothing was lost. `place`: the spool, as the user knows it.
std::vector<std::string> lost_lines(const spool::Contents &spool, const std::string &place);

}  // namespace cairn::cli
