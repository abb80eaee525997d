// What `cairn diff` says of runs on other numbers of ranks.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "analyze/size_diff.h"

namespace cairn::cli {

class Output;

/// At most `limit` lines of call sites.
void print(const analyze::SizeDiff &diff, const std::optional<uint64_t> &limit, Output *out);
nlohmann::ordered_json json_of(const analyze::SizeDiff &diff);
/// Its call sites as CSV, those too that do what they did.
std::string csv_of(const analyze::SizeDiff &diff);
/// All call sites do on each rank what they did.
bool is_equal(const analyze::SizeDiff &diff);

}  // namespace cairn::cli
