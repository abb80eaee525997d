// GPU kernels on the axis of the calls (timeline.h).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "export/timeline.h"
#include "gpu/analyze/moments.h"

namespace cairn::exporting {
namespace {

/// Of threads, so that streams have numbers that none of these has.
constexpr uint32_t kFirstStream = 1'000'000;

bool is_wanted(const Wanted &wanted, const analyze::TimedLaunch &timed, int64_t end_ns) {
  if (!timed.begin_ns || end_ns < 0 || !wanted.has_rank(timed.launch->rank)) return false;
  if (!wanted.window) return true;
  const uint64_t begin = *timed.begin_ns < 0 ? 0 : static_cast<uint64_t>(*timed.begin_ns);
  return begin <= wanted.window->end_ns && static_cast<uint64_t>(end_ns) >= wanted.window->begin_ns;
}

}  // namespace

uint64_t write_kernels(const Scope &scope, const gpu::Launches &launches, TimelineWriter *writer) {
  struct Stream {
    Track track;
    uint64_t end_ns = 0;
  };
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Stream> streams;  // rank, device, stream
  std::map<uint32_t, uint32_t> of_rank;
  std::vector<analyze::TimedLaunch> all = analyze::launches_in_order(*scope.trace, launches);
  std::stable_sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return a.begin_ns < b.begin_ns; });
  uint64_t count = 0;
  for (const analyze::TimedLaunch &timed : all) {
    const gpu::LaunchRecord &launch = *timed.launch;
    const int64_t end_ns = timed.begin_ns.value_or(0) + static_cast<int64_t>(launch.moment.duration_ns);
    if (!is_wanted(scope.wanted, timed, end_ns)) continue;
    const auto [at, fresh] = streams.try_emplace({launch.rank, launch.device, launch.stream});
    Stream &stream = at->second;
    if (fresh) {
      stream.track = {launch.rank + 1, kFirstStream + of_rank[launch.rank]++};
      writer->thread(stream.track,
                     fmt::format("rank {}, GPU {}, stream {}", launch.rank, launch.device, launch.stream));
    }
    // A stream's kernels follow each other; what the device's clock was thought to be may have changed between them.
    const uint64_t begin = std::max(stream.end_ns, *timed.begin_ns < 0 ? 0 : static_cast<uint64_t>(*timed.begin_ns));
    stream.end_ns = std::max(begin, static_cast<uint64_t>(end_ns));
    const std::string name = launches.programs[launch.program].kernel(launch.kernel);
    SliceBegin slice{name, "GPU"};
    slice.details.push_back(Detail::of("launch", timed.number));
    slice.details.push_back(Detail::of("grid", analyze::sizes_text(launch.grid)));
    slice.details.push_back(Detail::of("block", analyze::sizes_text(launch.block)));
    if (const auto queued = timed.queued_ns()) slice.details.push_back(Detail::of("queued ns", *queued));
    writer->slice(stream.track, begin, stream.end_ns - begin, slice);
    ++count;
  }
  return count;
}

}  // namespace cairn::exporting
