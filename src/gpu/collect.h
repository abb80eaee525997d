// A launch as collect.h of the public headers gives it, into Launches. Copies; one thread at a time.
#pragma once

#include "cairn/gpu/collect.h"
#include "gpu/launches.h"

namespace cairn::gpu {

/// False if the launch's numbers contradict each other: then nothing was added.
bool add_launch(const cairn_gpu_launch &launch, Launches *to);

/// What `./app` writes: a trace without MPI calls. `launches` is of rank 0.
Bytes file_of(const Launches &launches, const std::string &command, int64_t start_unix_ns, int64_t wall_ns);

}  // namespace cairn::gpu
