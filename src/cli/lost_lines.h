// Lines about processes that were killed, or could not hand over what they recorded, and of which the spool could keep
// nothing, or of their GPU launches not all.
#pragma once

#include <string>
#include <vector>

#include "spool/contents.h"
#include "spool/gpu.h"

namespace cairn::cli {

/// One for each reason; none where nothing was lost. `place`: the spool, as the user knows it.
std::vector<std::string> lost_lines(const spool::Contents &spool, const std::string &place);
/// Likewise. A killed process is told where it had lost nothing, too.
std::vector<std::string> lost_lines(const spool::GpuLeft &left);

}  // namespace cairn::cli
