// The GPU side of cairn dump: the events of warps, in order.
#pragma once

#include <optional>

#include "cli/inspect.h"

namespace cairn::cli {

struct GpuDump {
  std::optional<uint64_t> warp;    ///< only this one of its grid
  std::optional<uint64_t> launch;  ///< only this launch
  bool raw5 = false;  ///< the thesis's form: a byte of location and four of mask for each event, and nothing else
  bool join = false;  ///< pieces of a warp that had split, at one location after another, as one event
  [[nodiscard]] bool wanted() const { return warp || launch || raw5 || join; }
};

int dump_gpu(const trace::Trace &trace, const Inspection &options, const GpuDump &what);

}  // namespace cairn::cli
