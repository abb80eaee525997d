// A warp's events as nested slices: functions, the loops in them, points. Streams have no times and no returns: the
// axis is the number of the event in its warp, and a function goes on until one that called it has an event, or the
// function is entered anew (so a function that calls itself is one call after another).
//
// One object a warp; events are given in order, and slices come out as they begin and end. Cost: a step per event.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/analyze/loops.h"
#include "gpu/file/launches.h"

namespace cairn::analyze {

/// What is told while a warp is walked; `at`: number of the event.
class TimelineVisitor {
 public:
  TimelineVisitor() = default;
  virtual ~TimelineVisitor() = default;
  TimelineVisitor(const TimelineVisitor &) = delete;
  TimelineVisitor &operator=(const TimelineVisitor &) = delete;
  virtual void function_begins(uint64_t at, const std::string &function) = 0;
  virtual void loop_begins(uint64_t at, uint16_t point) = 0;
  /// The innermost of those that have begun. `iterations` of a loop; 0 for a function.
  virtual void slice_ends(uint64_t at, uint64_t iterations) = 0;
  virtual void point(uint64_t at, const gpu::Event &event) = 0;
};

class GpuTimeline {
 public:
  GpuTimeline(const gpu::ProgramRecord &program, const GpuLoops &loops, TimelineVisitor *visitor)
      : program_(program), loops_(loops), visitor_(*visitor) {}
  void event(uint64_t at, const gpu::Event &event);
  void end(uint64_t at);

 private:
  struct Frame {
    const std::string *function;
    struct Loop {
      uint16_t point;
      uint64_t iterations;
    };
    std::vector<Loop> loops;
  };
  void leave_loop(uint64_t at);
  void leave_function(uint64_t at);
  /// Makes `function` the innermost.
  void go_to(uint64_t at, const std::string &function, bool anew);

  const gpu::ProgramRecord &program_;
  const GpuLoops &loops_;
  TimelineVisitor &visitor_;
  std::vector<Frame> frames_;
};

}  // namespace cairn::analyze
