#include "gpu/analyze/distinct_warps.h"

#include <map>
#include <string>
#include <tuple>

namespace cairn::analyze {

std::vector<DistinctWarp> distinct_warps(const gpu::Launches &launches) {
  // What decides how streams are read, and what they are called.
  using Key = std::tuple<uint32_t, uint32_t, gpu::CoderKind, uint8_t, uint8_t, std::vector<uint32_t>>;
  std::map<Key, size_t> known;
  std::vector<DistinctWarp> all;
  for (uint32_t number = 0; number < launches.launches.size(); ++number) {
    const gpu::LaunchRecord &launch = launches.launches[number];
    for (const gpu::WarpStreams &warp : launch.warps) {
      Key key{launch.program, launch.kernel, launch.coder, launch.location_bits, launch.lanes, warp.streams};
      const auto [place, fresh] = known.try_emplace(std::move(key), all.size());
      if (fresh) all.push_back({&launch, &warp, number, 0});
      ++all[place->second].times;
    }
  }
  return all;
}

Result<void> each_event(const gpu::Launches &launches, const DistinctWarp &warp,
                        const std::function<void(const gpu::Event &)> &visit) {
  auto done = launches.visit(*warp.launch, *warp.warp, visit);
  if (!done) {
    done.error().message +=
        " of warp " + std::to_string(warp.warp->index) + " in launch " + std::to_string(warp.launch_number);
  }
  return done;
}

}  // namespace cairn::analyze
