// cairn info: what a trace is: the run, its ranks, what was called, and what the file is made of.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "analyze/overview.h"
#include "cli/inspect.h"
#include "cli/verbs.h"
#include "gpu/analyze/points.h"
#include "terminal/options.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::cli {
namespace {

using analyze::Overview;

std::string json_text(const std::string &path, const Overview &view, const analyze::GpuOverview &gpu) {
  nlohmann::ordered_json out;
  out["schema"] = "cairn.info/1";
  out["file"] = valid_utf8(path);
  out["command"] = valid_utf8(view.run.command);
  out["start"] = utc_text(view.run.start_unix_ns);
  out["wall_seconds"] = static_cast<double>(view.run.wall_ns) * 1e-9;
  out["hosts"] = nlohmann::ordered_json::array();
  for (const std::string &host : view.hosts) out["hosts"].push_back(valid_utf8(host));
  out["mpi"] = valid_utf8(view.run.mpi);
  out["recorder"] = valid_utf8(view.run.recorder);
  out["ranks"] = view.ranks;
  out["world_size"] = view.world;
  out["threads"] = view.threads;
  out["calls"] = view.calls;
  out["functions"] = view.functions;
  out["signatures"] = view.signatures;
  out["classes"] = view.classes;
  out["communicators"] = view.communicators;
  out["timing"] = valid_utf8(view.run.timing);
  out["status"] = valid_utf8(view.run.status);
  out["incomplete_ranks"] = view.incomplete;
  out["degraded"] = nlohmann::ordered_json::array();
  for (const auto &[reason, ranks] : view.degraded) {
    nlohmann::ordered_json entry;
    entry["reason"] = valid_utf8(reason);
    entry["ranks"] = ranks;
    out["degraded"].push_back(std::move(entry));
  }
  out["peak_memory"] = view.peak_memory;
  out["merge_cpu_seconds"] = nullptr;
  if (const trace::MergeCost &merge = view.run.merge; merge.ranks != 0) {
    out["merge_cpu_seconds"] = {{"mean", static_cast<double>(merge.sum_ns) / static_cast<double>(merge.ranks) * 1e-9},
                                {"maximum", static_cast<double>(merge.most_ns) * 1e-9}};
  }
  if (gpu.launches != 0) {
    out["gpu"] = {{"launches", gpu.launches}, {"kernels", gpu.kernels}, {"warps", gpu.warps},
                  {"streams", gpu.streams},   {"events", gpu.events},   {"lost", gpu.lost}};
  }
  out["bytes"] = view.bytes;
  return out.dump(2) + "\n";
}

std::string hosts_text(const std::vector<std::string> &hosts) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < hosts.size() && i < kShown; ++i) text += (i == 0 ? "" : ", ") + hosts[i];
  if (hosts.size() > kShown) text += fmt::format(" and {} more", hosts.size() - kShown);
  return text;
}

void print_text(Output &out, const std::string &path, const Overview &view, const analyze::GpuOverview &gpu) {
  const auto line = [&](const char *name, const std::string &value) {
    out.write(fmt::format("{}{:<15}{}{}\n", out.dim(), name, out.plain(), value));
  };
  const auto total = view.bytes.find("total");
  out.write(fmt::format("{}{}{}\n", out.bold(), path, out.plain()));
  line("command", view.run.command);
  line("status", view.run.status);
  line("start", utc_text(view.run.start_unix_ns));
  line("wall time", time_text(view.run.wall_ns));
  line("hosts", hosts_text(view.hosts));
  line("MPI", view.run.mpi);
  line("recorder", view.run.recorder);
  line("ranks", view.ranks == view.world ? grouped(view.ranks)
                                         : fmt::format("{} of {}", grouped(view.ranks), grouped(view.world)));
  line("threads", grouped(view.threads));
  line("calls", fmt::format("{} of {}", grouped(view.calls), plural(view.functions, "function")));
  line("signatures", fmt::format("{} in {}", grouped(view.signatures), plural(view.classes, "class", "classes")));
  line("communicators", grouped(view.communicators));
  line("timing", view.run.timing);
  line("memory", fmt::format("{} at most on a rank", bytes_text(view.peak_memory)));
  if (const trace::MergeCost &merge = view.run.merge; merge.ranks != 0) {
    line("merge", fmt::format("CPU {} a rank in the mean, {} at most", time_text(merge.sum_ns / merge.ranks),
                              time_text(merge.most_ns)));
  }
  if (gpu.launches != 0) {
    line("GPU", fmt::format("{} of {}, {} of {}, {}", plural(gpu.launches, "launch", "launches"),
                            plural(gpu.kernels, "kernel"), plural(gpu.warps, "warp"), plural(gpu.streams, "kind"),
                            plural(gpu.events, "event")));
  }
  std::string sections;
  for (const auto &[name, bytes] : view.bytes) {
    if (name != "total") sections += fmt::format("{}{} {}", sections.empty() ? "" : ", ", name, grouped(bytes));
  }
  line("bytes", fmt::format("{} ({})", grouped(total == view.bytes.end() ? 0 : total->second), sections));
  const auto note = [&](const std::string &what, const std::vector<uint32_t> &ranks) {
    out.write(fmt::format("{}{:<15}{}{}{}\n", out.warning(), "note", out.plain(),
                          fmt::format("rank{} {}: ", ranks.size() == 1 ? "" : "s", analyze::ranks_text(ranks)), what));
  };
  if (!view.incomplete.empty()) note("did not reach MPI_Finalize", view.incomplete);
  for (const auto &[reason, ranks] : view.degraded) note(reason, ranks);
  if (gpu.lost != 0) {
    out.write(fmt::format("{}{:<15}{}{} of GPU warps not kept: give CAIRN_GPU_MEMORY more\n", out.warning(), "note",
                          out.plain(), plural(gpu.lost, "event")));
  }
}

int info(Inspection &inspection) {
  const auto trace = open_trace(inspection);
  if (!trace) return report(trace.error());
  const Overview view = analyze::overview(*trace);
  auto launches = analyze::gpu_launches(*trace);
  if (!launches) {
    launches.error().path = inspection.file;
    return report(launches.error());
  }
  const analyze::GpuOverview gpu = analyze::gpu_overview(*launches);
  Output out;
  if (inspection.json) {
    out.write(json_text(inspection.file, view, gpu));
  } else {
    print_text(out, inspection.file, view, gpu);
  }
  return out.finish();
}

}  // namespace

void add_info(CLI::App &app, Run &run) {
  auto options = std::make_shared<Inspection>();
  Options verb(app, "info", "Tell what a trace holds");
  add_file(verb, *options);
  add_json(verb, *options);
  verb.chosen([options, &run] { run = [options] { return info(*options); }; });
}

}  // namespace cairn::cli
