#include "gpu/analyze/points.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

namespace cairn::analyze {
namespace {

struct Counts {
  uint64_t visits = 0;
  uint64_t lanes = 0;
};
using ByLocation = std::map<uint16_t, Counts>;

void consider(PointUse *use, const WorstWarp &warp) {
  const auto worse = [](const WorstWarp &a, const WorstWarp &b) { return a.mean_lanes < b.mean_lanes; };
  const auto at = std::upper_bound(use->worst.begin(), use->worst.end(), warp, worse);
  if (at == use->worst.end() && use->worst.size() == PointUse::kWorst) return;
  use->worst.insert(at, warp);
  if (use->worst.size() > PointUse::kWorst) use->worst.pop_back();
}

/// How a stream is read depends on these of its launch.
auto reading_of(const gpu::LaunchRecord &launch) {
  return std::tuple(launch.program, launch.coder, launch.location_bits, launch.lanes);
}

}  // namespace

double PointUse::mean_lanes() const {
  return visits == 0 ? 0 : static_cast<double>(lanes) / static_cast<double>(visits);
}

double PointUse::efficiency() const { return width == 0 ? 0 : static_cast<double>(lanes) / static_cast<double>(width); }

Result<gpu::Launches> gpu_launches(const trace::Trace &trace) {
  const auto sections = trace.gpu();
  if (!sections) return tl::unexpected(sections.error());
  if (sections->first.empty()) return gpu::Launches();
  Allowance allowance(trace.memory());
  return gpu::Launches::read(sections->first, sections->second, &allowance);
}

GpuOverview gpu_overview(const gpu::Launches &launches) {
  GpuOverview view;
  std::set<std::pair<uint32_t, uint32_t>> kernels;
  for (const gpu::LaunchRecord &launch : launches.launches) {
    kernels.emplace(launch.program, launch.kernel);
    view.warps += launch.warps.size();
    if (launch.warps.empty()) ++view.untraced[static_cast<size_t>(launch.why)];
    view.clocked += launch.clocks.empty() ? 0 : 1;
    for (const gpu::WarpStreams &warp : launch.warps) {
      view.lost += warp.lost;
      for (const uint32_t stream : warp.streams) view.events += launches.streams[stream].events;
    }
  }
  view.launches = launches.launches.size();
  view.kernels = kernels.size();
  view.streams = launches.streams.size();
  return view;
}

std::vector<std::string> gpu_faults(const gpu::Launches &launches) {
  std::vector<std::string> faults;
  std::set<std::pair<decltype(reading_of(launches.launches[0])), uint32_t>> seen;
  for (uint32_t number = 0; number < launches.launches.size(); ++number) {
    const gpu::LaunchRecord &launch = launches.launches[number];
    for (const gpu::WarpStreams &warp : launch.warps) {
      for (const uint32_t stream : warp.streams) {
        if (!seen.emplace(reading_of(launch), stream).second) continue;
        const auto done = launches.visit(launch, stream, [](const gpu::Event &) {});
        if (done) continue;
        faults.push_back(done.error().message + " of warp " + std::to_string(warp.index) + " in launch " +
                         std::to_string(number));
      }
    }
  }
  return faults;
}

Result<std::vector<PointUse>> gpu_points(const gpu::Launches &launches) {
  std::map<std::pair<uint32_t, uint16_t>, PointUse> uses;
  for (uint32_t program = 0; program < launches.programs.size(); ++program) {
    for (const gpu::LocationRecord &location : launches.programs[program].locations) {
      if (gpu::is_access(location.kind)) continue;
      PointUse &use = uses[{program, location.id}];
      use.program = program;
      use.location = location.id;
    }
  }
  std::map<std::pair<decltype(reading_of(launches.launches[0])), uint32_t>, ByLocation> known;
  for (uint32_t number = 0; number < launches.launches.size(); ++number) {
    const gpu::LaunchRecord &launch = launches.launches[number];
    for (const gpu::WarpStreams &warp : launch.warps) {
      ByLocation own;
      for (const uint32_t stream : warp.streams) {
        const auto [at, fresh] = known.try_emplace({reading_of(launch), stream});
        if (fresh) {
          auto done = launches.visit(launch, stream, [&counts = at->second](const gpu::Event &event) {
            Counts &here = counts[event.location];
            ++here.visits;
            here.lanes += static_cast<uint64_t>(std::popcount(event.mask));
          });
          if (!done) {
            done.error().message += " of warp " + std::to_string(warp.index) + " in launch " + std::to_string(number);
            return tl::unexpected(done.error());
          }
        }
        for (const auto &[location, counts] : at->second) {
          own[location].visits += counts.visits;
          own[location].lanes += counts.lanes;
        }
      }
      for (const auto &[location, counts] : own) {
        if (launches.programs[launch.program].is_access(location)) continue;
        PointUse &use = uses[{launch.program, location}];
        use.program = launch.program;
        use.location = location;
        use.visits += counts.visits;
        use.lanes += counts.lanes;
        use.width += counts.visits * launch.lanes;
        consider(&use, {number, warp.index, static_cast<double>(counts.lanes) / static_cast<double>(counts.visits)});
      }
    }
  }
  std::vector<PointUse> all;
  all.reserve(uses.size());
  for (auto &[key, use] : uses) all.push_back(std::move(use));
  return all;
}

std::string point_text(const gpu::ProgramRecord &program, uint16_t location) {
  const gpu::LocationRecord *found = program.find(location);
  if (found == nullptr) return "location " + std::to_string(location);
  return found->file + ":" + std::to_string(found->line) +
         (found->column != 0 ? ":" + std::to_string(found->column) : "") + " " + std::string(name_of(found->kind)) +
         " in " + found->function;
}

}  // namespace cairn::analyze
