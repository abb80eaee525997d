// A launch as collect.h of the public headers gives it, into Launches. Copies; one thread at a time.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "cairn/gpu/collect.h"
#include "gpu/file/launches.h"

namespace cairn::gpu {

/// What is told beside a launch. nullptr: its moment, or the clocks of its warps, are not known.
struct AboutLaunch {
  const cairn_gpu_moment *moment = nullptr;
  const cairn_gpu_clock *clocks = nullptr;
  uint32_t processors = 0;  ///< of its device; 0: not known
  Untraced why = Untraced::not_told;
};

/// Launches as they end. Their programs live as long as the process, so the address tells them apart.
class Collected {
 public:
  /// False if the launch's numbers contradict each other: then nothing was added.
  bool add(const cairn_gpu_launch &launch, const AboutLaunch &about = {});
  /// Moments are told by CLOCK_MONOTONIC; from now on, from this one.
  void count_from(uint64_t zero_ns) { launches_.count_from(static_cast<int64_t>(zero_ns)); }
  void forget_places() { launches_.forget_places(); }
  [[nodiscard]] const Launches &launches() const { return launches_; }

 private:
  uint32_t number_of(const cairn_gpu_program &program);

  Launches launches_;
  std::map<const cairn_gpu_program *, uint32_t> programs_;
};

ProgramRecord program_of(const cairn_gpu_program &from);
/// But for its program and its warps. Nothing, if its numbers contradict each other.
std::optional<LaunchRecord> record_of(const cairn_gpu_launch &launch, const AboutLaunch &about);

/// What `./app` writes: a trace without MPI calls. `launches` is of rank 0. `status`: of the run.
Bytes file_of(const Launches &launches, const std::string &command, int64_t start_unix_ns, int64_t wall_ns,
              const std::string &status = "complete");

}  // namespace cairn::gpu
