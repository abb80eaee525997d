#include "cli/launch_list.h"

#include <fmt/format.h>

#include "terminal/words.h"

namespace cairn::cli {
namespace {

/// In seconds, as cairn dump has begins of calls.
Cell moment(const std::optional<int64_t> &ns) {
  if (!ns) return nothing();
  return {fmt::format("{:.9f}", static_cast<double>(*ns) * 1e-9), *ns};
}

Cell nanoseconds(const std::optional<uint64_t> &ns) {
  if (!ns) return nothing();
  return {time_text(*ns), *ns};
}

std::optional<uint64_t> if_timed(const analyze::KernelUse &use, uint64_t ns) {
  return use.timed == 0 ? std::nullopt : std::optional(ns);
}

}  // namespace

Listing launch_list(const gpu::Launches &launches, const std::vector<analyze::TimedLaunch> &timed, uint64_t most) {
  Listing list({{"launch", "launch"},
                {"rank", "rank"},
                {"kernel", "kernel", true},
                {"grid", "grid", false, 3},
                {"block", "block", false, 3},
                {"device", "device", false, 4},
                {"stream", "stream"},
                {"thread", "thread", false, 5},
                {"calls before", "calls_before", false, 2},
                {"made at", "made_ns", false, 4},
                {"began at", "begin_ns"},
                {"queued for", "queued_ns"},
                {"ran", "duration_ns"}});
  for (const analyze::TimedLaunch &each : timed) {
    if (most-- == 0) break;
    const gpu::LaunchRecord &launch = *each.launch;
    const gpu::LaunchMoment &at = launch.moment;
    const bool among_calls = at.placed && at.thread != gpu::LaunchMoment::kNoThread;
    list.add({count(each.number), count(launch.rank), words(launches.programs[launch.program].kernel(launch.kernel)),
              words(analyze::sizes_text(launch.grid)), words(analyze::sizes_text(launch.block)), count(launch.device),
              count(launch.stream), among_calls ? count(at.thread) : nothing(),
              among_calls ? count(at.calls) : nothing(), moment(each.made_ns), moment(each.begin_ns),
              nanoseconds(each.queued_ns()), nanoseconds(at.ran ? std::optional(at.duration_ns) : std::nullopt)});
  }
  return list;
}

Listing kernel_list(const std::vector<analyze::KernelUse> &uses) {
  Listing list({{"kernel", "kernel", true},
                {"launches", "launches"},
                {nullptr, "timed"},
                {"ran", "ran_ns"},
                {"mean", "mean_ns"},
                {"longest", "longest_ns"},
                {"queued for, mean", "mean_queued_ns", false, 1}});
  for (const analyze::KernelUse &use : uses) {
    const uint64_t timed = use.timed == 0 ? 1 : use.timed;
    list.add({words(use.kernel), count(use.launches), count(use.timed), nanoseconds(if_timed(use, use.ran_ns)),
              nanoseconds(if_timed(use, use.ran_ns / timed)), nanoseconds(if_timed(use, use.longest_ns)),
              nanoseconds(if_timed(use, use.queued_ns / timed))});
  }
  return list;
}

}  // namespace cairn::cli
