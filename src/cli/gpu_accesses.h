// cairn gpu accesses: how well lanes share what memory moves for them.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/analyze/accesses.h"
#include "terminal/terminal.h"

namespace cairn::cli {

/// At most `limit` lines for each memory, those first that move most beyond what they need.
void print_accesses(Output &out, const gpu::Launches &launches, std::vector<analyze::AccessUse> uses, uint64_t limit,
                    bool json);

}  // namespace cairn::cli
