// cairn gpu blocks: whether multiprocessors had equally much to do, kernel by kernel or for one launch.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "gpu/file/launches.h"
#include "terminal/terminal.h"

namespace cairn::cli {

struct BlockQuestion {
  std::optional<uint64_t> launch;  ///< multiprocessor by multiprocessor; nullopt: all launches, kernel by kernel
  uint64_t limit = UINT64_MAX;     ///< lines
  bool json = false;
};
/// Fails where there is no such launch. False: nothing was traced with clocks, and nothing is printed.
Result<bool> print_blocks(Output &out, const gpu::Launches &launches, const BlockQuestion &question);

}  // namespace cairn::cli
