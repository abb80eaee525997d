// Call sites as verbs print them.
#pragma once

#include <nlohmann/json.hpp>

#include "analyze/sources.h"
#include "terminal/listing.h"

namespace cairn::cli {

/// Module, offset, function, file and line.
nlohmann::ordered_json site_json(const analyze::Position &position);
/// "main.c:42 in exchange()", of which "main.c:42" is the last to be shortened; "unknown".
Cell site_cell(const analyze::Position &position);

}  // namespace cairn::cli
