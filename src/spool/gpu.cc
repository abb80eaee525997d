#include "spool/gpu.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "gpu/file/collect.h"
#include "trace/read/edit.h"

namespace cairn::spool {

GpuLeft read_gpu(const std::vector<std::string> &files) {
  GpuLeft left;
  std::vector<gpu::Spooled> processes;
  for (const std::string &path : files) {
    std::ifstream in(path, std::ios::binary);
    const Bytes bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    auto process = gpu::read_spooled(bytes);
    std::optional<Error> wrong = process ? process->damage : process.error();
    if (wrong) {
      wrong->path = path;
      left.damaged.push_back(*wrong);
    }
    if (process) processes.push_back(*std::move(process));
  }
  std::stable_sort(processes.begin(), processes.end(),
                   [](const gpu::Spooled &a, const gpu::Spooled &b) { return a.head.rank < b.head.rank; });
  if (!processes.empty()) left.first = processes.front().head;
  for (gpu::Spooled &process : processes) {
    left.killed += process.head.over ? 0 : 1;
    left.in_flight += process.in_flight;
    left.unwritten += process.unwritten;
    left.launches.append(std::move(process.launches), process.head.rank);
  }
  return left;
}

TraceBytes gpu_alone(const GpuLeft &left, const std::string &command) {
  const bool all = left.killed == 0 && left.damaged.empty() && left.unwritten == 0;
  return {gpu::file_of(left.launches, command, left.first.start_unix_ns, 0, all ? "complete" : "incomplete"), 0, {}};
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
