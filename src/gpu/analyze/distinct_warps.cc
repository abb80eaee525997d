#include "gpu/analyze/distinct_warps.h"

#include <map>
#include <tuple>

namespace cairn::analyze {

std::vector<DistinctWarp> distinct_warps(const gpu::Launches &launches) {
  // What decides how streams are read, and what they are called.
  using Key = std::tuple<uint32_t, uint32_t, gpu::CoderKind, uint8_t, uint8_t, std::vector<uint32_t>>;
  std::map<Key, size_t> known;
  std::vector<DistinctWarp> all;
  for (const gpu::LaunchRecord &launch : launches.launches) {
    for (const gpu::WarpStreams &warp : launch.warps) {
      Key key{launch.program, launch.kernel, launch.coder, launch.location_bits, launch.lanes, warp.streams};
      const auto [place, fresh] = known.try_emplace(std::move(key), all.size());
      if (fresh) all.push_back({&launch, &warp, 0});
      ++all[place->second].times;
    }
  }
  return all;
}

WarpWalks::WarpWalks(const gpu::Launches &launches) : launches_(launches) {
  loops_.reserve(launches.programs.size());
  for (const gpu::ProgramRecord &program : launches.programs) loops_.emplace_back(program);
}

Result<void> WarpWalks::walk(const DistinctWarp &warp, TimelineVisitor *visitor) const {
  const uint32_t program = warp.launch->program;
  GpuTimeline timeline(launches_.programs[program], loops_[program], visitor);
  uint64_t at = 0;
  auto done = launches_.visit(*warp.launch, *warp.warp, [&](const gpu::Event &event) { timeline.event(at++, event); });
  timeline.end(at);
  return done;
}

}  // namespace cairn::analyze
