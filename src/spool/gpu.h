// What processes under `cairn record` traced in GPU kernels, joined and put into the trace. Of several jobs in one
// command, the first trace gets the kernels of all.
#pragma once

#include <string>
#include <vector>

#include "gpu/file/launches.h"
#include "spool/join.h"

namespace cairn::spool {

/// The launches of those files, rank by rank.
Result<gpu::Launches> read_gpu(const std::vector<std::string> &files);
Result<TraceBytes> with_gpu(TraceBytes bytes, const std::string &path, const gpu::Launches &launches);

}  // namespace cairn::spool
