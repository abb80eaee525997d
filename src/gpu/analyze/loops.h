// Which points of a program stand in which loops, from what its text says can follow what: the natural loops of each
// function (Aho, Sethi, Ullman, "Compilers", section 9.6). A loop is known by the point at the top of its body.
//
// Const after it was made. Cost: a search through its function for each loop.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "gpu/file/launches.h"

namespace cairn::analyze {

class GpuLoops {
 public:
  explicit GpuLoops(const gpu::ProgramRecord &program);
  /// `point` belongs to an iteration of the loop, as `loop` itself does.
  [[nodiscard]] bool inside(uint16_t loop, uint16_t point) const;

 private:
  std::map<uint16_t, std::vector<uint16_t>> bodies_;  ///< by loop, ascending
};

}  // namespace cairn::analyze
