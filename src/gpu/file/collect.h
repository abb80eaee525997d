// A launch as collect.h of the public headers gives it, into Launches. Copies; one thread at a time.
#pragma once

#include <map>

#include "cairn/gpu/collect.h"
#include "gpu/file/launches.h"

namespace cairn::gpu {

/// Launches as they end. Their programs live as long as the process, so the address tells them apart.
class Collected {
 public:
  /// False if the launch's numbers contradict each other: then nothing was added.
  bool add(const cairn_gpu_launch &launch);
  [[nodiscard]] const Launches &launches() const { return launches_; }

 private:
  uint32_t number_of(const cairn_gpu_program &program);

  Launches launches_;
  std::map<const cairn_gpu_program *, uint32_t> programs_;
};

/// What `./app` writes: a trace without MPI calls. `launches` is of rank 0.
Bytes file_of(const Launches &launches, const std::string &command, int64_t start_unix_ns, int64_t wall_ns);

}  // namespace cairn::gpu
