// What a program spent in MPI as `cairn summary` tells it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "analyze/summary.h"
#include "terminal/listing.h"

namespace cairn::cli {

/// At most `most` lines.
Listing summary_list(const analyze::Summary &summary, uint64_t most);

/// As --json has it. `path`: which file it was; `list`: its lines.
nlohmann::ordered_json summary_json(const std::string &path, const analyze::Summary &summary, const Listing &list);

}  // namespace cairn::cli
