#include "export/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "gpu/analyze/blocks.h"
#include "text/utf8.h"

namespace cairn::exporting {
namespace {

using Device = std::pair<uint32_t, uint32_t>;    ///< rank, device
using TrackKey = std::pair<uint32_t, uint32_t>;  ///< multiprocessor, and which of its tracks

struct Slice {
  Device device;
  uint32_t processor = 0;
  uint32_t track = 0;  ///< of the multiprocessor
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  uint32_t block = 0;
  uint64_t cycles = 0;
  uint32_t launch = 0;
};

void add_slices(const PlacedLaunch &placed, std::vector<Slice> *slices) {
  const auto blocks = analyze::blocks_of(*placed.launch);
  if (!blocks) return;
  const auto cycles = static_cast<double>(std::max<uint64_t>(1, blocks->cycles()));
  const double scale = placed.length_ns == 0 ? 1 : static_cast<double>(placed.length_ns) / cycles;
  const auto at = [&](uint64_t cycle) {
    return placed.begin_ns + static_cast<int64_t>(scale * static_cast<double>(cycle));
  };
  for (const analyze::BlockTime &block : blocks->blocks) {
    if (at(block.end) < 0) continue;
    slices->push_back({{placed.launch->rank, placed.launch->device},
                       block.processor,
                       0,
                       static_cast<uint64_t>(std::max<int64_t>(0, at(block.begin))),
                       static_cast<uint64_t>(at(block.end)),
                       block.block,
                       block.end - block.begin,
                       placed.number});
  }
}

/// Blocks that were on a multiprocessor at once have a track each.
void give_tracks(std::vector<Slice> *slices) {
  std::map<std::pair<Device, uint32_t>, std::vector<uint64_t>> ends;  // of each track's last block
  for (Slice &slice : *slices) {
    std::vector<uint64_t> &tracks = ends[{slice.device, slice.processor}];
    const auto free = std::find_if(tracks.begin(), tracks.end(), [&](uint64_t end) { return end <= slice.begin_ns; });
    slice.track = static_cast<uint32_t>(free - tracks.begin());
    if (free == tracks.end()) tracks.push_back(0);
    tracks[slice.track] = slice.end_ns;
  }
}

}  // namespace

std::vector<PlacedLaunch> with_clocks(const Kernels &kernels) {
  std::vector<PlacedLaunch> all;
  for (const Kernel &kernel : kernels.all) {
    if (kernel.launch.launch->clocks.empty()) continue;
    const auto drawn = static_cast<int64_t>(kernel.begin_ns);
    const int64_t begin = *kernel.launch.begin_ns < 0 ? *kernel.launch.begin_ns : drawn;
    all.push_back({kernel.launch.number, kernel.launch.launch, begin,
                   static_cast<uint64_t>(static_cast<int64_t>(kernel.end_ns) - begin)});
  }
  return all;
}

std::vector<PlacedLaunch> with_clocks(const gpu::Launches &launches, const std::vector<uint32_t> &wanted) {
  std::vector<PlacedLaunch> all;
  for (uint32_t number = 0; number < launches.launches.size(); ++number) {
    const gpu::LaunchRecord &launch = launches.launches[number];
    const bool is_wanted = wanted.empty() || std::binary_search(wanted.begin(), wanted.end(), number);
    if (launch.clocks.empty() || !is_wanted) continue;
    const bool placed = launch.moment.ran && launch.moment.begin_ns >= 0;
    all.push_back(
        {number, &launch, placed ? launch.moment.begin_ns : 0, launch.moment.ran ? launch.moment.duration_ns : 0});
  }
  return all;
}

uint64_t write_blocks(const gpu::Launches &launches, const std::vector<PlacedLaunch> &placed, uint32_t first_process,
                      TimelineWriter *writer) {
  std::vector<Slice> slices;
  for (const PlacedLaunch &each : placed) add_slices(each, &slices);
  std::stable_sort(slices.begin(), slices.end(), [](const Slice &a, const Slice &b) {
    return std::tie(a.device, a.begin_ns, a.block) < std::tie(b.device, b.begin_ns, b.block);
  });
  give_tracks(&slices);
  std::map<Device, std::map<TrackKey, uint32_t>> threads;
  for (const Slice &slice : slices) threads[slice.device][{slice.processor, slice.track}] = 0;
  std::map<Device, uint32_t> processes;
  for (auto &[device, tracks] : threads) {
    const uint32_t process = first_process + static_cast<uint32_t>(processes.size());
    processes[device] = process;
    writer->process(process,
                    fmt::format("rank {}, GPU {}: blocks on its multiprocessors", device.first, device.second));
    uint32_t thread = 0;
    for (auto &[key, number] : tracks) {
      number = ++thread;
      writer->thread({process, number}, key.second == 0
                                            ? fmt::format("multiprocessor {}", key.first)
                                            : fmt::format("multiprocessor {} ({})", key.first, key.second + 1));
    }
  }
  for (const Slice &slice : slices) {
    const gpu::LaunchRecord &launch = launches.launches[slice.launch];
    const std::string kernel = valid_utf8(launches.programs[launch.program].kernel(launch.kernel));
    const Track track{processes.at(slice.device), threads.at(slice.device).at({slice.processor, slice.track})};
    writer->slice(
        track, slice.begin_ns, slice.end_ns - slice.begin_ns,
        {kernel,
         "block",
         {Detail::of("launch", slice.launch), Detail::of("block", slice.block), Detail::of("cycles", slice.cycles)}});
  }
  return slices.size();
}

}  // namespace cairn::exporting
