// thesis_size TRACE: the bytes that the coder `thesis` writes for the GPU kernels of a trace, summed over warps.
#include <cstdio>
#include <map>
#include <utility>

#include "gpu/file/launches.h"
#include "gpu/testing/thesis.h"
#include "trace/read/trace.h"

int main(int count, char **words) {
  using namespace cairn;
  if (count != 2) return 2;
  const auto trace = trace::Trace::open(words[1]);
  if (!trace) return 3;
  const auto sections = trace->gpu();
  if (!sections) return 3;
  const auto launches = gpu::Launches::read(sections->first, sections->second);
  if (!launches) return 3;
  uint64_t all = 0;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> known;  // by program and stream
  for (const gpu::LaunchRecord &launch : launches->launches) {
    for (const gpu::WarpStreams &warp : launch.warps) {
      for (const uint32_t number : warp.streams) {
        const auto [at, fresh] = known.try_emplace({launch.program, number});
        if (fresh) {
          const auto events = launches->events(launch, {warp.index, 0, {number}});
          if (!events) return 3;
          const auto coded = launch.lanes == 64 ? gpu::encode_thesis<uint64_t>(launch.location_bits, *events)
                                                : gpu::encode_thesis<uint32_t>(launch.location_bits, *events);
          at->second = coded.size() * sizeof(uint32_t);
        }
        all += at->second;
      }
    }
  }
  std::printf("%llu\n", static_cast<unsigned long long>(all));
  return 0;
}
