// Reads ranks back from a .cairn file and compares every call with what the made-up program does: function, call site
// (module and offset), depth and each field. Addresses in a module are compared by the module they mean.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "scale/source.h"
#include "trace/read/trace.h"

namespace cairn::scale {

struct ReadBack {
  uint64_t calls = 0;   ///< compared
  std::string problem;  ///< empty, or the first difference
};

ReadBack read_back(const trace::Trace &trace, Source *source, std::span<const uint32_t> ranks);

}  // namespace cairn::scale
