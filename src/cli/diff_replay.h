// `cairn diff --replay`: a recording and that of its replay.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "trace/read/trace.h"

namespace cairn::cli {

/// Prints what differs, and gives the exit code. `ranks`: as --rank has them.
int diff_replay(const trace::Trace &first, const trace::Trace &second, const std::string &ranks,
                const std::optional<uint64_t> &limit, bool json);

}  // namespace cairn::cli
