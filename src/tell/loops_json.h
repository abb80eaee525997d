// The loops of a run as `cairn loops --json` tells them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analyze/loops.h"
#include "trace/read/trace.h"

namespace cairn::cli {

inline uint64_t whole(double value) { return static_cast<uint64_t>(std::llround(value)); }

/// Numbers of a loop's one turn, and of all of them, on one rank in the mean.
struct Turn {
  double turns;
  uint64_t calls;
  uint64_t bytes;
  bool all_sized;
  std::optional<uint64_t> time_ns;

  Turn(const analyze::Loop &loop, size_t ranks)
      : turns(static_cast<double>(loop.item->turns) * static_cast<double>(ranks)) {
    calls = whole(loop.calls / turns);
    bytes = whole(loop.bytes / turns);
    all_sized = loop.unsized_calls == 0;
    if (loop.time_ns) time_ns = whole(*loop.time_ns / turns);
  }
};

/// `kinds` are those whose places and loops were found. `file`: which it was.
nlohmann::ordered_json loops_json(const std::string &file, const trace::Trace &trace,
                                  const std::vector<analyze::KindOfRank> &kinds);

}  // namespace cairn::cli
