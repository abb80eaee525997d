#include "gpu/analyze/timeline.h"

#include <algorithm>

namespace cairn::analyze {

void GpuTimeline::leave_loop(uint64_t at) {
  visitor_.slice_ends(at, frames_.back().loops.back().iterations);
  frames_.back().loops.pop_back();
}

void GpuTimeline::leave_function(uint64_t at) {
  while (!frames_.back().loops.empty()) leave_loop(at);
  visitor_.slice_ends(at, 0);
  frames_.pop_back();
}

void GpuTimeline::go_to(uint64_t at, const std::string &function, bool anew) {
  const auto running =
      std::find_if(frames_.rbegin(), frames_.rend(), [&](const Frame &frame) { return *frame.function == function; });
  if (running != frames_.rend()) {
    const size_t keep = static_cast<size_t>(frames_.rend() - running) - (anew ? 1 : 0);
    while (frames_.size() > keep) leave_function(at);
    if (!anew) return;
  } else if (!anew) {
    // Its beginning was not kept: it called what was seen so far.
    while (!frames_.empty()) leave_function(at);
  }
  frames_.push_back({&function, {}});
  visitor_.function_begins(at, function);
}

void GpuTimeline::event(uint64_t at, const gpu::Event &event) {
  static const std::string nowhere = "?";
  const gpu::LocationRecord *location = program_.find(event.location);
  go_to(at, location == nullptr ? nowhere : location->function,
        location != nullptr && location->kind == gpu::Kind::entry);
  auto &loops = frames_.back().loops;
  while (!loops.empty() && !loops_.inside(loops.back().point, event.location)) leave_loop(at);
  if (location != nullptr && location->kind == gpu::Kind::loop) {
    if (loops.empty() || loops.back().point != event.location) {
      loops.push_back({event.location, 0});
      visitor_.loop_begins(at, event.location);
    }
    ++loops.back().iterations;
  }
  visitor_.point(at, event);
}

void GpuTimeline::end(uint64_t at) {
  while (!frames_.empty()) leave_function(at);
}

}  // namespace cairn::analyze
