// cairn info: what a trace is: the run, its ranks, what was called, and what
// the file is made of.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>

#include "analyze/communicators.h"
#include "analyze/decode.h"
#include "analyze/overview.h"
#include "analyze/spawned.h"
#include "cli/inspect.h"
#include "cli/pending_lines.h"
#include "cli/verbs.h"
#include "gpu/analyze/points.h"
#include "terminal/listing.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/rank_list.h"
#include "text/utf8.h"
#include "trace/read/exactness.h"

namespace cairn::cli {
namespace {

using analyze::Overview;

/// Why launches were not traced, and what can be done about it.
struct UntracedText {
  gpu::Untraced why;
  const char *name;  ///< in JSON
  const char *text;
};
constexpr UntracedText kUntracedTexts[] = {
    {gpu::Untraced::not_told, "not_told", ""},
    {gpu::Untraced::memory, "memory", ": give CAIRN_GPU_MEMORY more"},
    {gpu::Untraced::graph, "graph", ": they were captured into graphs, and ran whenever these were launched"},
    {gpu::Untraced::failed, "failed", ": their device failed, or was reset, before their trace was fetched"},
    {gpu::Untraced::killed, "killed", ": they were in flight when their process was killed, or ended"},
};

nlohmann::ordered_json untraced_because(const analyze::GpuOverview &gpu) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const UntracedText &each : kUntracedTexts) {
    const uint64_t count = gpu.untraced[static_cast<size_t>(each.why)];
    if (count != 0) all[each.name] = count;
  }
  return all;
}

/// Something that is so, in words and in JSON.
struct Fact {
  const char *name;  ///< nullptr: only in JSON
  std::string text;
  nlohmann::ordered_json members;
};

std::string hosts_text(const std::vector<std::string> &hosts) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < hosts.size() && i < kShown; ++i) text += (i == 0 ? "" : ", ") + hosts[i];
  if (hosts.size() > kShown) text += fmt::format(" and {} more", hosts.size() - kShown);
  return text;
}

nlohmann::ordered_json corrections_json(const trace::Corrections *made) {
  if (made == nullptr) return nullptr;
  return {
      {"arrivals", made->arrivals}, {"reversed", made->reversed}, {"beyond_uncertainty", made->doubtless},
      {"moved", made->moved},       {"left", made->left},         {"largest_seconds", duration(made->largest_ns).json}};
}

/// How the times of the ranks stand to each other.
Fact clocks_of(const trace::Axis &axis) {
  if (!axis.common()) return {nullptr, "", {{"clocks", nullptr}}};
  const nlohmann::ordered_json clocks = {{"compared", axis.compared()},
                                         {"uncertainty_seconds", duration(axis.uncertainty_ns()).json},
                                         {"drift_seconds", duration(axis.drift_ns()).json},
                                         {"starts_apart_seconds", duration(axis.spread_ns()).json},
                                         {"corrected", corrections_json(axis.corrections())}};
  std::string text = "not compared: each rank's wall clock is trusted";
  if (axis.compared()) {
    text = axis.uncertainty_ns() == 0 ? "one clock"
                                      : fmt::format("within {} of rank 0's, drift {} at most",
                                                    time_text(axis.uncertainty_ns()), time_text(axis.drift_ns()));
  }
  text += fmt::format("; ranks began within {}", time_text(axis.spread_ns()));
  if (const trace::Corrections *made = axis.corrections()) {
    text += made->reversed == 0
                ? "; no message is reversed"
                : fmt::format("; corrected by {} at most, as {} reversed", time_text(made->largest_ns),
                              made->reversed == 1 ? "1 message was" : grouped(made->reversed) + " messages were");
  }
  return {"clocks", text, {{"clocks", clocks}}};
}

Fact timing_of(const trace::Trace &trace) {
  const std::string &timing = trace.run().timing;
  timing::TimesCost cost = trace.run().merge.times;
  cost.size = trace::times_size(trace);
  if (cost.size.calls == 0) return {"timing", valid_utf8(timing), {{"timing", valid_utf8(timing)}, {"times", nullptr}}};
  const double bits = 8 * static_cast<double>(cost.size.bytes) / static_cast<double>(cost.size.calls);
  std::string text = fmt::format("{}: {}, {:.1f} bits a call", valid_utf8(timing), bytes_text(cost.size.bytes), bits);
  if (const timing::Mode *mode = timing::mode_named(timing); mode != nullptr && mode->bounds != timing::Bounds::none) {
    text += fmt::format("; a call's begin is off by {} at most", time_text(cost.size.clock_error_ns));
  }
  const bool counted = cost.coding_ns != 0;  // by the recorder; not of what was made of its trace
  if (counted) {
    text += fmt::format("; coded in {} of CPU", time_text(cost.coding_ns));
    if (cost.writing_ns != 0) text += fmt::format(", written in {}", time_text(cost.writing_ns));
  }
  return {"timing",
          text,
          {{"timing", valid_utf8(timing)},
           {"times",
            {{"calls", cost.size.calls},
             {"bytes", cost.size.bytes},
             {"clock_error_seconds", duration(cost.size.clock_error_ns).json},
             {"coding_cpu_seconds", counted ? duration(cost.coding_ns).json : nullptr},
             {"writing_seconds", counted ? duration(cost.writing_ns).json : nullptr}}}}};
}

/// What the recorder took of it.
Fact memory_of(uint64_t recorded, const trace::MemoryPeaks &peaks) {
  nlohmann::ordered_json json = {{"peak_memory", recorded}};
  if (!peaks.worth_telling()) return {"memory", bytes_text(recorded) + " at most on a rank", json};
  json["memory"] = {
      {"together", peaks.together}, {"recorded", peaks.recorded}, {"making", peaks.making}, {"merging", peaks.merging}};
  return {"memory",
          fmt::format("{} at most on a rank: {} of tables, beside them {} to make parts of these, or {} to merge",
                      bytes_text(peaks.together), bytes_text(peaks.recorded), bytes_text(peaks.making),
                      bytes_text(peaks.merging)),
          json};
}

/// Calls that failed, most first; nothing is said of none.
Fact failures_of(const Overview &view) {
  std::vector<std::pair<uint32_t, analyze::Failures>> sorted(view.failures.begin(), view.failures.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
    return analyze::failed_calls(a.second) > analyze::failed_calls(b.second);
  });
  uint64_t sum = 0;
  std::string functions;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto &[function, failures] : sorted) {
    sum += analyze::failed_calls(failures);
    const std::string name = analyze::function_name(function);
    functions += fmt::format("{}{} ({})", functions.empty() ? "" : ", ", name, failures_text(failures));
    for (const auto &[error, calls] : failures) {
      list.push_back({{"function", name}, {"error", error}, {"calls", calls}});
    }
  }
  return {sum == 0 ? nullptr : "failed",
          fmt::format("{}: {}", plural(sum, "call"), functions),
          {{"failed_calls", sum}, {"failures", list}}};
}

/// Of a run that spawned others or was spawned.
Fact job_of(const trace::RunInfo &run) {
  nlohmann::ordered_json json{{"name", valid_utf8(run.job)}, {"spawned_by", nullptr}};
  std::string text = run.job;
  if (const auto by = analyze::spawner_of(run)) {
    json["spawned_by"] = {{"job", valid_utf8(by->job)}, {"rank", by->rank}};
    text += fmt::format(", spawned by rank {} of job {}", by->rank, by->job);
  }
  return {"job", text, {{"job", json}}};
}

/// Of a trace of several jobs.
Fact jobs_of(const trace::Trace &trace) {
  std::string text;
  auto json = nlohmann::ordered_json::array();
  for (const trace::Job &job : trace.run().jobs) {
    const uint32_t last = job.first + trace.job_of(job.first).size - 1;
    auto told = nlohmann::ordered_json{{"first_rank", job.first},
                                       {"ranks", last - job.first + 1},
                                       {"command", valid_utf8(job.command)},
                                       {"spawned_by_rank", nullptr},
                                       {"communicator", nullptr}};
    text += fmt::format("{}{}", text.empty() ? "" : "; ", last == job.first ? "rank " : "ranks ");
    text += last == job.first ? fmt::format("{}", last) : fmt::format("{}-{}", job.first, last);
    if (job.spawned_by) {
      text += fmt::format(" spawned by rank {}", *job.spawned_by);
      told["spawned_by_rank"] = *job.spawned_by;
      told["communicator"] = valid_utf8(job.parent);
    }
    json.push_back(std::move(told));
  }
  return {"jobs", text, {{"jobs", json}}};
}

std::vector<Fact> facts_of(const trace::Trace &trace, const Overview &view, const analyze::GpuOverview &gpu) {
  const trace::RunInfo &run = view.run;
  const auto said = [](const char *name, const std::string &text, const char *member) -> Fact {
    return {name, text, {{member, valid_utf8(text)}}};
  };
  nlohmann::ordered_json degraded = nlohmann::ordered_json::array();
  for (const auto &[why, told] : view.degraded) {
    degraded.push_back(
        {{"reason", valid_utf8(why)}, {"count", told.count}, {"missing", told.missing}, {"ranks", told.ranks}});
  }
  std::vector<Fact> facts = {
      {"command", run.command.empty() ? "not kept" : run.command, {{"command", valid_utf8(run.command)}}},
      said("status", run.status, "status"),
      said("start", utc_text(run.start_unix_ns), "start"),
      {"wall time", time_text(run.wall_ns), {{"wall_seconds", duration(run.wall_ns).json}}},
      {"hosts", hosts_text(view.hosts), {{"hosts", cli::json_of(view.hosts)}}},
      clocks_of(trace.axis()),
      said("MPI", run.mpi, "mpi"),
      said("recorder", run.recorder, "recorder"),
      {"ranks",
       grouped(view.ranks) + (view.ranks == view.world ? "" : " of " + grouped(view.world)),
       {{"ranks", view.ranks}, {"world_size", view.world}}},
      {"threads", grouped(view.threads), {{"threads", view.threads}}},
      {"calls",
       fmt::format("{} of {}", grouped(view.calls), plural(view.functions, "function")),
       {{"calls", view.calls}, {"functions", view.functions}}},
      failures_of(view),
      {"signatures",
       fmt::format("{} in {}", grouped(view.signatures), plural(view.classes, "class", "classes")),
       {{"signatures", view.signatures}, {"classes", view.classes}}},
      {"communicators", grouped(view.communicators), {{"communicators", view.communicators}}},
      timing_of(trace),
      {nullptr, "", {{"incomplete_ranks", view.incomplete}, {"degraded", degraded}}},
      memory_of(view.peak_memory, run.merge.memory)};
  if (!run.job.empty()) facts.push_back(job_of(run));
  if (!run.jobs.empty()) facts.push_back(jobs_of(trace));
  if (const trace::MergeCost &merge = run.merge; merge.ranks != 0) {
    const uint64_t mean = merge.sum_ns / merge.ranks;
    const double exact = static_cast<double>(merge.sum_ns) / static_cast<double>(merge.ranks) * 1e-9;
    facts.push_back({"merge",
                     fmt::format("CPU {} a rank in the mean, {} at most", time_text(mean), time_text(merge.most_ns)),
                     {{"merge_cpu_seconds", {{"mean", exact}, {"maximum", duration(merge.most_ns).json}}}}});
  } else {
    facts.push_back({nullptr, "", {{"merge_cpu_seconds", nullptr}}});
  }
  if (gpu.launches != 0) {
    facts.push_back({"GPU",
                     fmt::format("{} of {}, {} of {}, {}{}", plural(gpu.launches, "launch", "launches"),
                                 plural(gpu.kernels, "kernel"), plural(gpu.warps, "warp"), plural(gpu.streams, "kind"),
                                 plural(gpu.events, "event"), gpu.clocked == 0 ? "" : ", clocks of warps"),
                     {{"gpu",
                       {{"launches", gpu.launches},
                        {"untraced", std::accumulate(gpu.untraced.begin(), gpu.untraced.end(), uint64_t{0})},
                        {"untraced_because", untraced_because(gpu)},
                        {"with_clocks", gpu.clocked},
                        {"kernels", gpu.kernels},
                        {"warps", gpu.warps},
                        {"streams", gpu.streams},
                        {"events", gpu.events},
                        {"lost", gpu.lost}}}}});
  }
  std::string sections;
  uint64_t total = 0;
  for (const auto &[name, bytes] : view.bytes) {
    if (name == "total") total = bytes;
    if (name != "total") sections += fmt::format("{}{} {}", sections.empty() ? "" : ", ", name, grouped(bytes));
  }
  facts.push_back({"bytes", fmt::format("{} ({})", grouped(total), sections), {{"bytes", view.bytes}}});
  return facts;
}

/// `in_finalize`: those of the incomplete ranks that had called it.
void print_notes(Output &out, const Overview &view, const std::vector<uint32_t> &in_finalize,
                 const analyze::GpuOverview &gpu) {
  const auto note = [&](const std::string &text) {
    out.write(fmt::format("{}{:<15}{}{}\n", out.warning(), "note", out.plain(), text));
  };
  const auto of_ranks = [&](const std::vector<uint32_t> &ranks, const std::string &what) {
    note(named_ranks(ranks) + ": " + what);
  };
  std::vector<uint32_t> before;
  std::set_difference(view.incomplete.begin(), view.incomplete.end(), in_finalize.begin(), in_finalize.end(),
                      std::back_inserter(before));
  if (!before.empty()) of_ranks(before, "MPI_Finalize was not called");
  if (!in_finalize.empty()) of_ranks(in_finalize, "MPI_Finalize did not return");
  for (const auto &[reason, told] : view.degraded) note(loss_text(reason, told));
  for (const UntracedText &each : kUntracedTexts) {
    const uint64_t count = gpu.untraced[static_cast<size_t>(each.why)];
    if (count != 0) note(plural(count, "launch", "launches") + " of GPU kernels not traced" + each.text);
  }
  if (gpu.lost != 0) note(plural(gpu.lost, "event") + " of GPU warps not kept: give CAIRN_GPU_MEMORY more");
}

struct InfoOptions : Inspection {
  bool communicators = false;
};

bool has_member(const analyze::Communicator &communicator, const std::vector<uint32_t> &ranks) {
  for (const auto &group : communicator.groups) {
    for (const auto &member : group) {
      if (std::binary_search(ranks.begin(), ranks.end(), member.in_world)) return true;
    }
  }
  return false;
}

Cell members_cell(const analyze::Communicator &communicator) {
  Cell cell{"", nlohmann::ordered_json::array()};
  for (const auto &group : communicator.groups) {
    if (group.empty()) continue;
    cell.text += (cell.text.empty() ? "" : " | ") + analyze::members_text(group);
    auto members = nlohmann::ordered_json::array();
    for (const auto &member : group) members.push_back(member.in_world);
    cell.json.push_back(std::move(members));
  }
  if (!communicator.complete) cell.text += " ?";
  return cell;
}

/// Who is in which communicator.
int communicators(const InfoOptions &options, const trace::Trace &trace) {
  const analyze::Sources sources(trace);
  const auto filter = analyze::make_filter(options.filter, trace, sources);
  if (!filter) return report(filter.error());
  const auto found = analyze::Communicators::of(trace, sources);
  if (!found) return report(found.error(), options.file);
  Listing list({{"communicator", "name", true},
                {"ranks", "size"},
                {"in MPI_COMM_WORLD, by rank", "groups", true},
                {nullptr, "complete"},
                {"made by", "function", true, 1},
                {"at", "site", true, 2},
                {nullptr, "parent"}});
  bool all_complete = true;
  for (const analyze::Communicator &each : found->all()) {
    if (!filter->all_ranks && !has_member(each, filter->ranks)) continue;
    all_complete = all_complete && each.complete;
    list.add({words(each.name),
              count(each.groups[0].size() + each.groups[1].size()),
              members_cell(each),
              {"", each.complete},
              each.made ? words(analyze::function_name(each.function)) : nothing(),
              each.made ? words(each.position.brief()) : nothing(),
              each.parent.empty() ? nothing() : words(each.parent)});
  }
  Output out;
  if (options.json) {
    const nlohmann::ordered_json object{
        {"schema", "cairn.communicators/1"}, {"file", valid_utf8(options.file)}, {"communicators", list.json()}};
    out.write(object.dump(2) + "\n");
    return out.finish();
  }
  list.print(out);
  if (!all_complete) out.write("\n?: the trace does not tell all of its ranks, or their order\n");
  return out.finish();
}

int info(InfoOptions &inspection) {
  if (!inspection.filter.ranks.empty() && !inspection.communicators) {
    return report(Error{ErrorKind::usage,
                        "--rank chooses communicators, and --communicators asks for them",
                        {},
                        Error::kNoOffset,
                        "cairn summary --per-rank tells of ranks"});
  }
  const auto trace = open_trace(inspection);
  if (!trace) return report(trace.error());
  if (inspection.communicators) return communicators(inspection, *trace);
  if (trace->damage()) say(trace->damage()->message + "; cairn verify names the times that are damaged");
  const Overview view = analyze::overview(*trace);
  const auto launches = analyze::gpu_launches(*trace);
  if (!launches) return report(launches.error(), inspection.file);
  const analyze::GpuOverview gpu = analyze::gpu_overview(*launches);
  const std::vector<Fact> facts = facts_of(*trace, view, gpu);
  std::vector<analyze::PendingCall> pending;
  if (!view.incomplete.empty()) pending = analyze::pending_calls(*trace, analyze::Sources(*trace));
  Output out;
  if (inspection.json) {
    nlohmann::ordered_json object{{"schema", "cairn.info/1"}, {"file", valid_utf8(inspection.file)}};
    for (const Fact &fact : facts) object.update(fact.members);
    object["pending"] = pending_json(pending);
    out.write(object.dump(2) + "\n");
    return out.finish();
  }
  out.write(fmt::format("{}{}{}\n", out.bold(), inspection.file, out.plain()));
  for (const auto &[name, text, members] : facts) {
    if (name != nullptr) out.write(fmt::format("{}{:<15}{}{}\n", out.dim(), name, out.plain(), text));
  }
  for (const std::string &line : pending_lines(pending)) {
    out.write(fmt::format("{}{:<15}{}{}\n", out.warning(), "pending", out.plain(), line));
  }
  print_notes(out, view, analyze::in_finalize(*trace), gpu);
  return out.finish();
}

}  // namespace

Action declare_info(Options &verb) {
  auto options = std::make_shared<InfoOptions>();
  add_file(verb, *options);
  add_json(verb, *options);
  verb.flag("--communicators", options->communicators, "Who is in which communicator instead");
  verb.text("--rank", options->filter.ranks, "Of communicators: only those that these ranks are in, as in 0-7,12",
            "LIST");
  return [options] { return info(*options); };
}

}  // namespace cairn::cli
