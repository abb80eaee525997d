// Any bytes as the sections `gpu` and `warps`: an error, or launches that can be written, read again and decoded.
#include <algorithm>
#include <cstdlib>

#include "gpu/file/launches.h"
#include "gpu/file/spooled.h"

using namespace cairn;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  const size_t first = std::min<size_t>(data[0] | size_t{data[1]} << 8, size - 2);
  const ByteView bytes(data + 2, size - 2);
  (void)gpu::read_spooled(bytes);
  ByteWriter spooled;
  spooled.raw(gpu::write_spooled_head({}));
  spooled.fixed64(bytes.size());
  spooled.fixed64(hash64(bytes));
  spooled.raw(bytes);
  if (!gpu::read_spooled(spooled.view())) std::abort();
  const auto launches = gpu::Launches::read(bytes.first(first), bytes.subspan(first));
  if (!launches) return 0;
  const auto [gpu, warps] = launches->write();
  const auto again = gpu::Launches::read(gpu, warps);
  if (!again || again->launches.size() != launches->launches.size()) std::abort();
  for (size_t i = 0; i < again->launches.size(); ++i) {
    if (again->launches[i].moment != launches->launches[i].moment) std::abort();
    if (again->launches[i].clocks != launches->launches[i].clocks) std::abort();
    if (again->launches[i].why != launches->launches[i].why) std::abort();
  }
  uint64_t budget = 100'000;
  for (const gpu::LaunchRecord &launch : launches->launches) {
    for (const gpu::WarpStreams &warp : launch.warps) {
      uint64_t events = 0;
      for (const uint32_t stream : warp.streams) events += launches->streams[stream].events;
      if (events > budget) continue;
      budget -= events;
      (void)launches->visit(launch, warp, [](const gpu::Event &) {});
    }
  }
  return 0;
}
