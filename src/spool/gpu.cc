#include "spool/gpu.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "gpu/file/spooled.h"
#include "trace/read/edit.h"

namespace cairn::spool {

Result<gpu::Launches> read_gpu(const std::vector<std::string> &files) {
  std::vector<gpu::Spooled> processes;
  for (const std::string &path : files) {
    std::ifstream in(path, std::ios::binary);
    const Bytes bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    auto process = gpu::read_spooled(bytes);
    if (!process) {
      process.error().path = path;
      return tl::unexpected(process.error());
    }
    processes.push_back(*std::move(process));
  }
  std::stable_sort(processes.begin(), processes.end(),
                   [](const gpu::Spooled &a, const gpu::Spooled &b) { return a.rank < b.rank; });
  gpu::Launches all;
  for (gpu::Spooled &process : processes) all.append(std::move(process.launches), process.rank);
  return all;
}

Result<TraceBytes> with_gpu(TraceBytes bytes, const std::string &path, const gpu::Launches &launches) {
  if (launches.launches.empty()) return bytes;
  const auto trace = trace::Trace::from_bytes(bytes.bytes, path, bytes.absent, bytes.blocks, trace::no_bundles);
  if (!trace) return tl::unexpected(trace.error());
  auto [gpu, warps] = launches.write();
  bytes.bytes = trace::with_gpu(*trace, std::move(gpu), std::move(warps));
  return bytes;
}

}  // namespace cairn::spool
