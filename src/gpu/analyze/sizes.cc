#include "gpu/analyze/sizes.h"

#include <map>

namespace cairn::analyze {

Result<GpuSizes> gpu_sizes(const gpu::Launches &launches) {
  GpuSizes all;
  all.streams = launches.streams.size();
  struct Known {
    uint64_t coded = 0;
    uint64_t values = 0;
  };
  std::map<std::pair<uint32_t, uint32_t>, Known> known;  // by program and stream
  for (const gpu::LaunchRecord &launch : launches.launches) {
    for (const gpu::WarpStreams &warp : launch.warps) {
      all.warps += warp.streams.empty() ? 0 : 1;
      for (const uint32_t number : warp.streams) {
        const gpu::StreamRecord &stream = launches.streams[number];
        const auto [at, fresh] = known.try_emplace({launch.program, number});
        if (fresh) {
          const auto events = launches.events(launch, {warp.index, 0, {number}});
          if (!events) return tl::unexpected(events.error());
          for (const gpu::Event &event : *events) {
            at->second.values += event.values.size() * (gpu::value_detail::is_wide(event.type) ? 8 : 4);
          }
          gpu::StreamForm form = launches.form(launch);
          form.coder = gpu::CoderKind::predict;
          at->second.coded = gpu::encode_stream(form, *events, stream.all).size() * sizeof(uint32_t);
        }
        all.events += stream.events;
        all.values += at->second.values;
        all.plain += stream.events * (launch.location_bits + launch.lanes) / 8;
        all.coded += at->second.coded;
      }
    }
  }
  return all;
}

}  // namespace cairn::analyze
