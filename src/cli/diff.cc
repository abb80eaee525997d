// cairn diff: what two runs did differently: their MPI calls, and their GPU kernels. Exit code 1 if anything differs.
#include "gpu/analyze/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <set>

#include "analyze/overview.h"
#include "cli/diff_calls.h"
#include "cli/diff_replay.h"
#include "cli/diff_sizes.h"
#include "cli/inspect.h"
#include "cli/kernels.h"
#include "cli/verbs.h"
#include "gpu/analyze/points.h"
#include "terminal/listing.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/rank_list.h"
#include "text/utf8.h"

namespace cairn::cli {
namespace {

using analyze::GpuLaunchPair;
using analyze::GpuProgramPair;
using analyze::GpuWarpDifference;

struct DiffOptions {
  std::vector<std::string> files;
  std::string ranks;
  bool ignore_results = false;
  bool replay = false;
  bool join = false;
  bool json = false;
  bool csv = false;
  std::optional<uint64_t> limit;
};

/// Kernels of one of the two runs.
struct Traced {
  std::string file;
  gpu::Launches launches;
};

std::string size_text(const std::array<uint32_t, 3> &size) {
  std::string text = std::to_string(size[0]);
  if (size[1] != 1 || size[2] != 1) text += "x" + std::to_string(size[1]);
  if (size[2] != 1) text += "x" + std::to_string(size[2]);
  return text;
}

class Report {
 public:
  Report(Output &out, const DiffOptions &options, const Traced &first, const Traced &second)
      : out_(out), options_(options), first_(first), second_(second) {}

  void text(const analyze::GpuDiff &diff) {
    for (const GpuProgramPair &pair : diff.programs) program(pair);
    uint64_t differing = 0;
    uint64_t warps = 0;
    uint64_t warps_differ = 0;
    uint64_t cut = 0;
    for (const GpuLaunchPair &pair : diff.launches) {
      if (!pair.equal()) launch(pair);
      differing += pair.equal() ? 0 : 1;
      warps += pair.warps;
      warps_differ += pair.differing;
      cut += pair.cut;
    }
    out_.write(fmt::format("{} of {} and {} of {}: ", grouped(differing),
                           plural(diff.launches.size(), "launch", "launches"), grouped(warps_differ),
                           plural(warps, "warp")) +
               (diff.equal() ? "nothing differs\n" : "differ\n"));
    if (cut != 0) out_.write(fmt::format("{} compared only as far as both runs kept them\n", plural(cut, "warp")));
  }

  nlohmann::ordered_json json(const analyze::GpuDiff &diff) const {
    auto programs = nlohmann::ordered_json::array();
    for (const GpuProgramPair &pair : diff.programs) {
      nlohmann::ordered_json moved = nlohmann::ordered_json::array();
      for (const auto &[from, to] : pair.moved) moved.push_back({from, to});
      programs.push_back({{"first", valid_utf8(first_.launches.programs[pair.first].file)},
                          {"second", valid_utf8(second_.launches.programs[pair.second].file)},
                          {"edited", pair.edited},
                          {"moved", moved},
                          {"gone", pair.gone},
                          {"new", pair.fresh}});
    }
    auto launches = nlohmann::ordered_json::array();
    for (const GpuLaunchPair &pair : diff.launches) {
      auto differences = nlohmann::ordered_json::array();
      for (const GpuWarpDifference &each : pair.differences) {
        differences.push_back({{"warps", each.warps},
                               {"event", each.event},
                               {"first", json(first_, *pair.first, each.first, each.events_first)},
                               {"second", json(second_, *pair.second, each.second, each.events_second)}});
      }
      launches.push_back({{"first", json_of(pair.first)},
                          {"second", json_of(pair.second)},
                          {"kernel", valid_utf8(kernel(pair))},
                          {"equal", pair.equal()},
                          {"same_shape", pair.same_shape},
                          {"warps", pair.warps},
                          {"unpaired_warps", pair.unpaired},
                          {"differing_warps", pair.differing},
                          {"cut_warps", pair.cut},
                          {"differences", std::move(differences)}});
    }
    return {{"schema", "cairn.diff.gpu/1"},
            {"equal", diff.equal()},
            {"programs", std::move(programs)},
            {"launches", std::move(launches)}};
  }

 private:
  static const gpu::ProgramRecord &program_of(const Traced &run, uint32_t launch) {
    return run.launches.programs[run.launches.launches[launch].program];
  }
  [[nodiscard]] std::string kernel(const GpuLaunchPair &pair) const {
    const Traced &run = pair.first ? first_ : second_;
    const uint32_t number = pair.first ? *pair.first : *pair.second;
    return program_of(run, number).kernel(run.launches.launches[number].kernel);
  }
  static nlohmann::ordered_json json(const Traced &run, uint32_t launch, const std::optional<gpu::Event> &event,
                                     uint64_t events) {
    nlohmann::ordered_json out{{"events", events}};
    if (!event) return out;
    out["location"] = event->location;
    out["mask"] = mask_text(event->mask, run.launches.launches[launch].lanes);
    add_place(program_of(run, launch), event->location, &out);
    return out;
  }

  void program(const GpuProgramPair &pair) {
    if (!pair.edited && pair.moved.empty() && pair.gone.empty() && pair.fresh.empty()) return;
    const gpu::ProgramRecord &before = first_.launches.programs[pair.first];
    const gpu::ProgramRecord &after = second_.launches.programs[pair.second];
    out_.write(fmt::format("{}{}{}{}: {} moved, {} gone, {} new\n", out_.bold(), before.file, out_.plain(),
                           pair.edited ? " was edited" : "", plural(pair.moved.size(), "point"), pair.gone.size(),
                           pair.fresh.size()));
    for (const auto &[from, to] : pair.moved) {
      const gpu::LocationRecord *moved = after.find(to);
      print(fmt::format("  {} is now {}:{}", analyze::point_text(before, from), moved->file, moved->line));
    }
    for (const uint16_t id : pair.gone) print("  gone: " + analyze::point_text(before, id));
    for (const uint16_t id : pair.fresh) print("  new: " + analyze::point_text(after, id));
  }

  void launch(const GpuLaunchPair &pair) {
    const uint32_t number = pair.first ? *pair.first : *pair.second;
    std::string head = fmt::format("launch {} {}", number, kernel(pair));
    if (pair.first && pair.second && *pair.first != *pair.second) head += fmt::format(" (now {})", *pair.second);
    if (!pair.first || !pair.second) {
      print(fmt::format("{}: only in {}", head, pair.first ? first_.file : second_.file));
      return;
    }
    if (!pair.same_shape) {
      const gpu::LaunchRecord &a = first_.launches.launches[*pair.first];
      const gpu::LaunchRecord &b = second_.launches.launches[*pair.second];
      head += fmt::format(": {} blocks of {}, now {} of {}", size_text(a.grid), size_text(a.block), size_text(b.grid),
                          size_text(b.block));
    }
    if (pair.unpaired != 0) head += fmt::format("; {} in one run only", plural(pair.unpaired, "warp"));
    print(fmt::format("{}; {} of {} differ", head, grouped(pair.differing), plural(pair.warps, "warp")));
    for (const GpuWarpDifference &each : pair.differences) {
      print(fmt::format("  warp{} {}, event {}", each.warps.size() == 1 ? "" : "s", ranks_text(each.warps),
                        grouped(each.event)));
      print("    - " + event_text(first_, *pair.first, each.first, each.events_first, each.event));
      print("    + " + event_text(second_, *pair.second, each.second, each.events_second, each.event));
    }
  }

  static std::string event_text(const Traced &run, uint32_t launch, const std::optional<gpu::Event> &event,
                                uint64_t events, uint64_t at) {
    if (!event) return events > at ? "not kept" : fmt::format("ended after {}", plural(events, "event"));
    return fmt::format("{} {:2}  {}", mask_text(event->mask, run.launches.launches[launch].lanes),
                       std::popcount(event->mask), analyze::point_text(program_of(run, launch), event->location));
  }

  void print(const std::string &line) {
    if (options_.limit && written_ >= *options_.limit) return;
    ++written_;
    out_.write(line + "\n");
  }

  Output &out_;
  const DiffOptions &options_;
  const Traced &first_;
  const Traced &second_;
  uint64_t written_ = 0;
};

/// One of the two runs.
struct Run {
  std::string file;
  trace::Trace trace;
  gpu::Launches launches;
  bool has_calls = false;

  [[nodiscard]] bool has_kernels() const { return !launches.launches.empty(); }
};

Result<Run> open_run(const std::string &file) {
  Inspection inspection;
  inspection.file = file;
  auto trace = open_trace(inspection);
  if (!trace) return tl::unexpected(trace.error());
  auto launches = analyze::gpu_launches(*trace);
  if (!launches) {
    launches.error().path = file;
    return tl::unexpected(launches.error());
  }
  const bool has_calls = analyze::overview(*trace).calls != 0;
  return Run{file, *std::move(trace), *std::move(launches), has_calls};
}

/// The files in which calls of MPI were made, without their folders.
std::set<std::string> callers_of(const trace::Trace &trace) {
  std::set<std::string> names;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    for (const trace::Site &site : trace.sites(index)) {
      if (site.module >= trace.modules().size()) continue;
      const std::string &path = trace.modules()[site.module].path;
      if (!path.empty()) names.insert(path.substr(path.rfind('/') + 1));
    }
  }
  return names;
}

/// The first that is no library, if there is one.
const std::string &program_of(const std::set<std::string> &callers) {
  const auto is_program = [](const std::string &name) { return name.find(".so") == std::string::npos; };
  const auto found = std::find_if(callers.begin(), callers.end(), is_program);
  return found == callers.end() ? *callers.begin() : *found;
}

/// Of which nearly all differs, unless one was renamed.
void say_other_program(const trace::Trace &first, const trace::Trace &second) {
  const std::set<std::string> one = callers_of(first);
  const std::set<std::string> other = callers_of(second);
  const auto is_in_both = [&](const std::string &name) { return other.contains(name); };
  if (one.empty() || other.empty() || std::any_of(one.begin(), one.end(), is_in_both)) return;
  say(fmt::format("these runs are of programs with different names, {} and {}", program_of(one), program_of(other)));
}

int diff(const DiffOptions &options) {
  if (options.files.size() != 2) return refuse("two traces are compared", "name the earlier one first");
  auto first = open_run(options.files[0]);
  if (!first) return report(first.error());
  auto second = open_run(options.files[1]);
  if (!second) return report(second.error());
  if (options.replay) return diff_replay(first->trace, second->trace, options.ranks, options.limit, options.json);
  const bool calls = first->has_calls && second->has_calls;
  const bool kernels = first->has_kernels() && second->has_kernels();
  if (!calls && !kernels)
    return refuse("one of these traces has MPI calls only and the other GPU kernels only", "name two of one kind");
  if (first->has_calls != second->has_calls) say("only one of them has MPI calls: GPU kernels are compared");
  if (first->has_kernels() != second->has_kernels()) say("only one of them has GPU kernels: MPI calls are compared");
  if (calls) say_other_program(first->trace, second->trace);
  // Rank by rank, runs of other numbers of ranks have nothing in common.
  std::optional<analyze::SizeDiff> sizes;
  if (calls && options.ranks.empty() && first->trace.rank_count() != second->trace.rank_count()) {
    auto made = analyze::size_diff(first->trace, second->trace);
    if (!made) return report(made.error());
    sizes = *std::move(made);
  }
  std::optional<ComparedCalls> compared;
  if (options.csv && !calls)
    return refuse("--csv prints differences of MPI calls, which these runs do not both have", "leave it out");
  if (calls && (!sizes || options.json)) {
    auto made = compare_calls(first->trace, second->trace, options.ranks, !options.ignore_results);
    if (!made) return report(made.error());
    compared = *std::move(made);
  }
  Output out;
  nlohmann::ordered_json json;
  if (options.csv) out.keep_lines();
  bool equal = sizes ? is_equal(*sizes) : !compared || compared->diff.equal();
  const bool text = !options.json && !options.csv;
  if (sizes && text) print(*sizes, options.limit, &out);
  if (compared && text) print(*compared, options.limit, &out);
  if (options.csv) out.write(sizes ? csv_of(*sizes) : csv_of(*compared));
  if (kernels) {
    const Traced one{first->file, std::move(first->launches)};
    const Traced other{second->file, std::move(second->launches)};
    const auto found = analyze::gpu_diff(one.launches, other.launches, options.join);
    if (!found) return report(found.error(), (analyze::gpu_faults(one.launches).empty() ? other : one).file);
    Report report(out, options, one, other);
    if (options.json) {
      json = report.json(*found);
    } else if (text) {
      report.text(*found);
    }
    equal = equal && found->equal();
  }
  if (options.json) {
    if (compared) {
      json = {{"schema", "cairn.diff/1"}, {"equal", equal}, {"mpi", json_of(*compared)}, {"gpu", std::move(json)}};
      if (sizes) json["sizes"] = json_of(*sizes);
    }
    out.write(json.dump(2) + "\n");
  }
  const int code = out.finish();
  return code == kFine && !equal ? kNegative : code;
}

}  // namespace

Action declare_diff(Options &verb) {
  auto options = std::make_shared<DiffOptions>();
  verb.words("traces", options->files, "The two traces, the earlier one first", 2);
  verb.text("--rank", options->ranks, "Only MPI calls of these ranks, as in 0-7,12", "LIST");
  verb.flag("--ignore-results", options->ignore_results,
            "MPI calls that only got something else from MPI, as another status, do not differ");
  verb.flag("--replay", options->replay,
            "The second is of a replay of the first: compare what names of objects and places mean");
  verb.flag("--join", options->join,
            "Take what parts of a warp recorded at one location one after another as one event");
  verb.number("--limit", options->limit, "At most N lines, and the last", "N");
  verb.flag("--csv", options->csv, "Print CSV, a line for each difference of MPI calls");
  verb.flag("--json", options->json, "Print JSON, with the name of its schema");
  verb.apart("--csv", "--json", "--csv and --json cannot go together");
  verb.apart("--csv", "--replay", "--csv and --replay cannot go together");
  return [options] { return diff(*options); };
}

}  // namespace cairn::cli
