// The rows of GPU streams below the ranks of cairn timeline.
//
// Plain functions; borrow what they are given.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gpu/analyze/stream_rows.h"

namespace cairn::cli {

/// How wide the names of these ranks' streams are, no less than 4. `ranks`: ascending.
size_t widest_name(const gpu::Launches &launches, const std::vector<uint32_t> &ranks);
/// A line a row, at most `most`, with what its kernels are: a digit for each of the nine that ran longest, + for the
/// others, or without `by_kernel` a # for all. Heads are `width` wide. Empty where there are no rows.
std::string stream_text(const std::vector<analyze::StreamRow> &rows, size_t width, size_t most, bool by_kernel);
nlohmann::ordered_json stream_json(const std::vector<analyze::StreamRow> &rows);

}  // namespace cairn::cli
