#include "export/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "export/timeline.h"

namespace cairn::exporting {
namespace {

/// Of threads, so that streams have numbers that none of these has.
constexpr uint32_t kFirstStream = 1'000'000;

bool is_wanted(const Wanted &wanted, const analyze::TimedLaunch &timed, int64_t end_ns) {
  if (!timed.begin_ns || end_ns < 0 || !wanted.has_rank(timed.launch->rank)) return false;
  if (!wanted.window) return true;
  const uint64_t begin = *timed.begin_ns < 0 ? 0 : static_cast<uint64_t>(*timed.begin_ns);
  return wanted.window->overlaps(begin, static_cast<uint64_t>(end_ns));
}

}  // namespace

std::string Kernel::name(const gpu::Launches &launches) const {
  return launches.programs[launch.launch->program].kernel(launch.launch->kernel);
}

std::string Kernels::Stream::name() const { return fmt::format("rank {}, GPU {}, stream {}", rank, device, stream); }

Kernels kernels_of(const Scope &scope, const gpu::Launches &launches) {
  Kernels kernels;
  if (!scope.wanted.functions.empty() || scope.logical) return kernels;
  struct Known {
    uint32_t place = 0;
    uint64_t end_ns = 0;
  };
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Known> streams;  // rank, device, stream
  std::map<uint32_t, uint32_t> of_rank;
  std::vector<analyze::TimedLaunch> all = analyze::launches_in_order(*scope.trace, launches);
  std::stable_sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return a.begin_ns < b.begin_ns; });
  for (const analyze::TimedLaunch &timed : all) {
    const gpu::LaunchRecord &launch = *timed.launch;
    const int64_t end_ns = timed.begin_ns.value_or(0) + static_cast<int64_t>(launch.moment.duration_ns);
    if (!is_wanted(scope.wanted, timed, end_ns)) continue;
    const auto [at, fresh] = streams.try_emplace({launch.rank, launch.device, launch.stream});
    Known &stream = at->second;
    if (fresh) {
      stream.place = static_cast<uint32_t>(kernels.streams.size());
      kernels.streams.push_back({launch.rank, launch.device, launch.stream, kFirstStream + of_rank[launch.rank]++});
    }
    // A stream's kernels follow each other; what the device's clock was thought to be may have changed between them.
    const uint64_t begin = std::max(stream.end_ns, *timed.begin_ns < 0 ? 0 : static_cast<uint64_t>(*timed.begin_ns));
    stream.end_ns = std::max(begin, static_cast<uint64_t>(end_ns));
    kernels.all.push_back({timed, stream.place, begin, stream.end_ns});
  }
  return kernels;
}

void write_kernels(const Kernels &kernels, const gpu::Launches &launches, TimelineWriter *writer) {
  const auto track = [](const Kernels::Stream &stream) { return Track{stream.rank + 1, stream.thread}; };
  for (const Kernels::Stream &stream : kernels.streams) writer->thread(track(stream), stream.name());
  for (const Kernel &kernel : kernels.all) {
    const gpu::LaunchRecord &launch = *kernel.launch.launch;
    const std::string name = kernel.name(launches);
    SliceBegin slice{name, "GPU"};
    slice.details.push_back(Detail::of("launch", kernel.launch.number));
    slice.details.push_back(Detail::of("grid", analyze::sizes_text(launch.grid)));
    slice.details.push_back(Detail::of("block", analyze::sizes_text(launch.block)));
    if (const auto queued = kernel.launch.queued_ns()) slice.details.push_back(Detail::of("queued ns", *queued));
    writer->slice(track(kernels.streams[kernel.stream]), kernel.begin_ns, kernel.end_ns - kernel.begin_ns, slice);
  }
}

}  // namespace cairn::exporting
