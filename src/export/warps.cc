// Timelines of GPU warps (timeline.h).
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "export/timeline.h"
#include "gpu/analyze/points.h"
#include "gpu/analyze/timeline.h"
#include "text/utf8.h"

namespace cairn::exporting {
namespace {

constexpr uint64_t kEventNs = 1000;

class WarpTrack : public analyze::TimelineVisitor {
 public:
  WarpTrack(TimelineWriter *writer, const gpu::ProgramRecord &program, const Track &track, uint32_t warp,
            unsigned lanes, bool points)
      : writer_(*writer), program_(program), track_(track), warp_(warp), lanes_(lanes), points_(points) {}

  void function_begins(uint64_t at, const std::string &function) override {
    writer_.begin(track_, at * kEventNs, {function, "function"});
  }
  void loop_begins(uint64_t at, uint16_t point) override {
    writer_.begin(track_, at * kEventNs, {"loop " + place(point), "loop"});
  }
  void slice_ends(uint64_t at, uint64_t iterations) override {
    std::vector<Detail> details;
    if (iterations != 0) details.push_back(Detail::of("iterations", iterations));
    writer_.end(track_, at * kEventNs, details);
  }
  void point(uint64_t at, const gpu::Event &event) override {
    const auto here = static_cast<unsigned>(std::popcount(event.mask));
    if (here != shown_) {
      writer_.counter(track_.process, fmt::format("lanes of warp {}", warp_), "lanes", at * kEventNs, here);
      shown_ = here;
    }
    if (!points_) return;
    const gpu::LocationRecord *location = program_.find(event.location);
    const std::string name =
        location == nullptr ? fmt::format("location {}", event.location) : std::string(gpu::name_of(location->kind));
    writer_.slice(track_, at * kEventNs, kEventNs,
                  {name,
                   "point",
                   {Detail::of("at", place(event.location)), Detail::of("lanes", here),
                    Detail::of("mask", fmt::format("{:0{}x}", event.mask, lanes_ / 4))}});
  }

 private:
  [[nodiscard]] std::string place(uint16_t point) const {
    const gpu::LocationRecord *location = program_.find(point);
    if (location == nullptr) return fmt::format("location {}", point);
    return fmt::format("{}:{}", valid_utf8(location->file), location->line);
  }

  TimelineWriter &writer_;
  const gpu::ProgramRecord &program_;
  const Track track_;
  const uint32_t warp_;
  const unsigned lanes_;
  const bool points_;
  unsigned shown_ = UINT32_MAX;
};

bool chosen(const std::vector<uint32_t> &wanted, uint32_t number) {
  return wanted.empty() || std::binary_search(wanted.begin(), wanted.end(), number);
}

std::string name_of(const gpu::Launches &launches, uint32_t number) {
  const gpu::LaunchRecord &launch = launches.launches[number];
  const auto &g = launch.grid;
  const auto &b = launch.block;
  return fmt::format(
      "launch {} {}, grid {}x{}x{}, block {}x{}x{}, rank {}, device {}, stream {}; no times: 1 us is 1 event of a "
      "warp",
      number, valid_utf8(launches.programs[launch.program].kernel(launch.kernel)), g[0], g[1], g[2], b[0], b[1], b[2],
      launch.rank, launch.device, launch.stream);
}

}  // namespace

WarpCounts count_warps(const gpu::Launches &launches, const WantedWarps &wanted) {
  WarpCounts counts;
  for (uint32_t number = 0; number < launches.launches.size(); ++number) {
    if (!chosen(wanted.launches, number)) continue;
    for (const gpu::WarpStreams &warp : launches.launches[number].warps) {
      if (!chosen(wanted.warps, warp.index)) continue;
      ++counts.warps;
      uint64_t kept = 0;
      for (const uint32_t stream : warp.streams) kept += launches.streams[stream].events;
      counts.events += std::min(kept, wanted.most_events);
    }
  }
  return counts;
}

Result<void> write_warps(const gpu::Launches &launches, const WantedWarps &wanted, TimelineWriter *writer) {
  for (uint32_t number = 0; number < launches.launches.size(); ++number) {
    if (!chosen(wanted.launches, number)) continue;
    const gpu::LaunchRecord &launch = launches.launches[number];
    const gpu::ProgramRecord &program = launches.programs[launch.program];
    const analyze::GpuLoops loops(program);
    const uint32_t process = wanted.processes + number + 1;
    writer->process(process, name_of(launches, number));
    for (const gpu::WarpStreams &warp : launch.warps) {
      if (!chosen(wanted.warps, warp.index)) continue;
      const Track track{process, warp.index + 1};
      const std::string lost = warp.lost == 0   ? ""
                               : warp.lost == 1 ? ", 1 event not kept"
                                                : fmt::format(", {} events not kept", warp.lost);
      writer->thread(track,
                     fmt::format("warp {} (block {}{})", warp.index, warp.index / launch.warps_per_block(), lost));
      WarpTrack visitor(writer, program, track, warp.index, launch.lanes, wanted.points);
      analyze::GpuTimeline timeline(program, loops, &visitor);
      // A ring has lost the beginning.
      uint64_t at = launch.ring ? warp.lost : 0;
      const uint64_t end = wanted.most_events < UINT64_MAX - at ? at + wanted.most_events : UINT64_MAX;
      auto done = launches.visit(launch, warp, [&](const gpu::Event &event) {
        if (at < end) timeline.event(at++, event);
      });
      timeline.end(at);
      if (!done) return done;
    }
  }
  return {};
}

}  // namespace cairn::exporting
