// What processes traced in GPU kernels, joined and put into the trace, be they ended or killed. Of several jobs in one
// command, the first trace gets the kernels of all.
#pragma once

#include <string>
#include <vector>

#include "gpu/file/spooled.h"
#include "spool/join.h"

namespace cairn::spool {

struct GpuLeft {
  gpu::Launches launches;      ///< of all processes, rank by rank
  uint64_t killed = 0;         ///< processes that did not end in order
  uint64_t in_flight = 0;      ///< launches of theirs, which stand there untraced
  uint64_t unwritten = 0;      ///< launches that are not there: the disk had no room
  gpu::SpooledHead first;      ///< of the process with the lowest rank
  std::vector<Error> damaged;  ///< files that are not there, or not all of them
};
GpuLeft read_gpu(const std::vector<std::string> &files);
/// A trace of processes that called no MPI.
TraceBytes gpu_alone(const GpuLeft &left, const std::string &command);
Result<TraceBytes> with_gpu(TraceBytes bytes, const std::string &path, const gpu::Launches &launches);

}  // namespace cairn::spool
