#include "cli/launch_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::cli {

using analyze::TimedLaunch;

LaunchLines::LaunchLines(const gpu::Launches &launches, std::span<const TimedLaunch> own, bool several_threads,
                         bool json)
    : launches_(launches), several_threads_(several_threads), json_(json) {
  for (const TimedLaunch &timed : own) {
    if (timed.launch->moment.placed) by_thread_[timed.launch->moment.thread].push_back(timed);
  }
  for (auto &[thread, queue] : by_thread_) {
    std::stable_sort(queue.begin(), queue.end(), [](const TimedLaunch &a, const TimedLaunch &b) {
      return a.launch->moment.calls < b.launch->moment.calls;
    });
  }
}

void LaunchLines::before(const trace::Event &event, std::string *lines) {
  const uint64_t calls = calls_[event.thread]++;
  const auto own = by_thread_.find(event.thread);
  if (own == by_thread_.end()) return;
  while (!own->second.empty() && own->second.front().launch->moment.calls <= calls) {
    others_before(own->second.front().made_ns, lines);
    add(own->second.front(), lines);
    own->second.pop_front();
  }
  if (event.timed) others_before(static_cast<int64_t>(event.begin_ns), lines);
}

void LaunchLines::others_before(std::optional<int64_t> ns, std::string *lines) {
  const auto others = by_thread_.find(gpu::LaunchMoment::kNoThread);
  while (others != by_thread_.end() && !others->second.empty() && others->second.front().made_ns < ns) {
    add(others->second.front(), lines);
    others->second.pop_front();
  }
}

void LaunchLines::rest(std::string *lines) {
  for (auto &[thread, queue] : by_thread_) {
    for (const TimedLaunch &timed : queue) add(timed, lines);
    queue.clear();
  }
}

void LaunchLines::add(const TimedLaunch &timed, std::string *lines) const {
  const gpu::LaunchRecord &launch = *timed.launch;
  const auto to = std::back_inserter(*lines);
  if (json_) {
    fmt::format_to(to, "{{\"rank\":{},", launch.rank);
    if (launch.moment.thread != gpu::LaunchMoment::kNoThread) {
      fmt::format_to(to, "\"thread\":{},", launch.moment.thread);
    }
    *lines += launch_members(launches_, timed) + "}\n";
    return;
  }
  lines->append(8, ' ');  // where calls have their numbers
  if (several_threads_ && launch.moment.thread != gpu::LaunchMoment::kNoThread) {
    fmt::format_to(to, "t{}  ", launch.moment.thread);
  }
  fmt::format_to(to, "launch {}: {} device {}, stream {}", timed.number, analyze::launch_text(launches_, launch),
                 launch.device, launch.stream);
  if (const auto queued = timed.queued_ns()) {
    fmt::format_to(to, ", queued for {}, ran {}", time_text(*queued), time_text(launch.moment.duration_ns));
  }
  *lines += '\n';
}

std::string launch_members(const gpu::Launches &launches, const TimedLaunch &timed) {
  const gpu::LaunchRecord &launch = *timed.launch;
  nlohmann::ordered_json members{
      {"launch", timed.number},  {"kernel", valid_utf8(launches.programs[launch.program].kernel(launch.kernel))},
      {"grid", launch.grid},     {"block", launch.block},
      {"device", launch.device}, {"stream", launch.stream}};
  if (timed.made_ns) members["made_ns"] = *timed.made_ns;
  if (timed.begin_ns) {
    members["begin_ns"] = *timed.begin_ns;
    members["duration_ns"] = launch.moment.duration_ns;
  }
  const std::string text = members.dump();
  return text.substr(1, text.size() - 2);
}

}  // namespace cairn::cli
