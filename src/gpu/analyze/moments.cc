#include "gpu/analyze/moments.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace cairn::analyze {
namespace {

int64_t on_axis(const trace::Axis::Place &place, int64_t own_ns) {
  if (own_ns >= 0) return static_cast<int64_t>(std::min<uint64_t>(place.of(static_cast<uint64_t>(own_ns)), INT64_MAX));
  return static_cast<int64_t>(std::min<uint64_t>(place.of(0), INT64_MAX)) + own_ns;
}

}  // namespace

std::optional<uint64_t> TimedLaunch::queued_ns() const {
  if (!launch->moment.ran || launch->moment.begin_ns < launch->moment.made_ns) return std::nullopt;
  return static_cast<uint64_t>(launch->moment.begin_ns - launch->moment.made_ns);
}

std::vector<TimedLaunch> launches_in_order(const trace::Trace &trace, const gpu::Launches &launches) {
  std::vector<TimedLaunch> all;
  all.reserve(launches.launches.size());
  std::map<uint32_t, trace::Axis::Place> places;
  for (uint32_t number = 0; number < launches.launches.size(); ++number) {
    const gpu::LaunchRecord &launch = launches.launches[number];
    const auto [place, fresh] = places.try_emplace(launch.rank);
    if (fresh) place->second = trace.place_on_axis(launch.rank);
    TimedLaunch timed{number, &launch, {}, {}};
    if (launch.moment.made) timed.made_ns = on_axis(place->second, launch.moment.made_ns);
    if (launch.moment.ran) timed.begin_ns = on_axis(place->second, launch.moment.begin_ns);
    all.push_back(timed);
  }
  std::stable_sort(all.begin(), all.end(), [](const TimedLaunch &a, const TimedLaunch &b) {
    return a.launch->rank != b.launch->rank ? a.launch->rank < b.launch->rank : a.made_ns < b.made_ns;
  });
  return all;
}

std::span<const TimedLaunch> launches_of(uint32_t rank, std::span<const TimedLaunch> in_order) {
  const auto begin = std::partition_point(in_order.begin(), in_order.end(),
                                          [rank](const TimedLaunch &each) { return each.launch->rank < rank; });
  const auto end = std::partition_point(begin, in_order.end(),
                                        [rank](const TimedLaunch &each) { return each.launch->rank == rank; });
  return {begin, end};
}

std::vector<KernelUse> kernel_uses(const gpu::Launches &launches, const std::vector<uint32_t> &ranks) {
  const std::set<uint32_t> wanted(ranks.begin(), ranks.end());
  std::map<std::pair<uint32_t, uint32_t>, KernelUse> uses;
  for (const gpu::LaunchRecord &launch : launches.launches) {
    if (!wanted.contains(launch.rank)) continue;
    KernelUse &use = uses[{launch.program, launch.kernel}];
    use.kernel = launches.programs[launch.program].kernel(launch.kernel);
    ++use.launches;
    if (!launch.moment.ran) continue;
    ++use.timed;
    use.ran_ns += launch.moment.duration_ns;
    use.longest_ns = std::max(use.longest_ns, launch.moment.duration_ns);
    use.queued_ns += TimedLaunch{0, &launch, {}, {}}.queued_ns().value_or(0);
  }
  std::vector<KernelUse> all;
  all.reserve(uses.size());
  for (auto &[key, use] : uses) all.push_back(std::move(use));
  std::stable_sort(all.begin(), all.end(), [](const KernelUse &a, const KernelUse &b) { return a.ran_ns > b.ran_ns; });
  return all;
}

std::string sizes_text(const std::array<uint32_t, 3> &sizes) {
  size_t dimensions = 3;
  while (dimensions > 1 && sizes[dimensions - 1] == 1) --dimensions;
  std::string text = std::to_string(sizes[0]);
  for (size_t i = 1; i < dimensions; ++i) text += "x" + std::to_string(sizes[i]);
  return text;
}

std::string launch_text(const gpu::Launches &launches, const gpu::LaunchRecord &launch) {
  return launches.programs[launch.program].kernel(launch.kernel) + "<<<" + sizes_text(launch.grid) + ", " +
         sizes_text(launch.block) + ">>>";
}

}  // namespace cairn::analyze
