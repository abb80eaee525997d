// Kernels: when GPU kernels of the wanted ranks ran, as all forms with times tell it.
//
// Borrows the launches. Cost: in proportion to the launches, sorted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "export/scope.h"
#include "gpu/analyze/moments.h"

namespace cairn::exporting {

struct Kernel {
  analyze::TimedLaunch launch;
  uint32_t stream = 0;    ///< which of Kernels::streams
  uint64_t begin_ns = 0;  ///< on the axis; what was before it begins is cut off
  uint64_t end_ns = 0;
  [[nodiscard]] std::string name(const gpu::Launches &launches) const;
};

struct Kernels {
  struct Stream {
    uint32_t rank = 0;
    uint32_t device = 0;
    uint32_t stream = 0;
    uint32_t thread = 0;  ///< of the rank, a number that none of its threads has
    [[nodiscard]] std::string name() const;
  };
  std::vector<Stream> streams;  ///< in the order in which they were used first
  std::vector<Kernel> all;      ///< by their begins; those of a stream follow each other
};

/// Those that ran within the window, of which it is known when. None where calls are chosen by their functions, which
/// kernels are not, or have no times, so that kernels have no place among them.
Kernels kernels_of(const Scope &scope, const gpu::Launches &launches);

}  // namespace cairn::exporting
