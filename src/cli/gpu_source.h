// cairn gpu source: sources with what warps did on each line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/analyze/points.h"
#include "terminal/terminal.h"

namespace cairn::cli {

struct SourceOptions {
  std::string trace;                 ///< its path: sources may lie beside it
  std::vector<std::string> folders;  ///< where they are looked for first
  std::optional<uint64_t> limit;     ///< so many lines, those that lost most; and what stands around them
  bool json = false;
};
/// `uses`: of all points.
void print_sources(Output &out, const gpu::Launches &launches, const std::vector<analyze::PointUse> &uses,
                   const SourceOptions &options);

}  // namespace cairn::cli
