// cairn gpu: how well GPU kernels used their warps (divergence; by line: source; by loop: loops; as stacks: folded),
// which of their code ran (coverage), how well lanes share what memory moves (accesses), whether multiprocessors had
// equally much to do (blocks), what lanes told at points with values (values), when launches were made and ran
// (launches), and how small what they recorded is (sizes).
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/gpu_accesses.h"
#include "cli/gpu_blocks.h"
#include "cli/gpu_source.h"
#include "cli/inspect.h"
#include "cli/kernels.h"
#include "cli/launch_list.h"
#include "cli/verbs.h"
#include "gpu/analyze/folded.h"
#include "gpu/analyze/points.h"
#include "gpu/analyze/sizes.h"
#include "gpu/analyze/trips.h"
#include "gpu/analyze/values.h"
#include "terminal/listing.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::cli {
namespace {

using analyze::PointUse;

struct GpuOptions : Inspection {
  std::string question;
  std::string weight = "lanes";
  std::vector<std::string> folders;
  std::optional<uint64_t> launch;
};

nlohmann::ordered_json json_of(const gpu::Launches &launches, const PointUse &use) {
  const gpu::ProgramRecord &program = launches.programs[use.program];
  nlohmann::ordered_json out{{"program", valid_utf8(program.file)}, {"location", use.location}};
  add_place(program, use.location, &out);
  out["visits"] = use.visits;
  out["mean_lanes"] = use.mean_lanes();
  out["efficiency"] = use.efficiency();
  out["lost_lanes"] = use.lost();
  out["worst"] = nlohmann::ordered_json::array();
  for (const analyze::WorstWarp &warp : use.worst) {
    out["worst"].push_back({{"launch", warp.launch}, {"warp", warp.warp}, {"mean_lanes", warp.mean_lanes}});
  }
  return out;
}

/// {"schema": …, `name`: …}
std::string object_text(const char *schema, const char *name, nlohmann::ordered_json list) {
  return nlohmann::ordered_json{{"schema", schema}, {name, std::move(list)}}.dump(2) + "\n";
}

/// Most idle lanes first.
void divergence(Output &out, const gpu::Launches &launches, std::vector<PointUse> uses, const GpuOptions &options) {
  std::stable_sort(uses.begin(), uses.end(), [](const PointUse &a, const PointUse &b) { return a.lost() > b.lost(); });
  std::erase_if(uses, [](const PointUse &use) { return use.visits == 0; });
  uint64_t all = 0;
  for (const PointUse &use : uses) all += use.lost();
  Listing list({{"point", nullptr, true},
                {"visits"},
                {"mean lanes"},
                {"efficiency"},
                {"lost lanes"},
                {"% of all"},
                {"worst warps (launch/warp: lanes)", nullptr, true}});
  for (const PointUse &use : uses) {
    std::string worst;
    for (const analyze::WorstWarp &warp : use.worst) {
      worst += fmt::format("{}{}/{}: {:.1f}", worst.empty() ? "" : ", ", warp.launch, warp.warp, warp.mean_lanes);
    }
    list.add({words(analyze::point_text(launches.programs[use.program], use.location)), count(use.visits),
              words(fmt::format("{:.1f}", use.mean_lanes())), words(fmt::format("{:.1f} %", 100 * use.efficiency())),
              count(use.lost()), share(use.lost(), all), words(worst)});
  }
  if (uses.empty()) return say("no warp that was traced came to a point; cairn info tells what was not traced");
  list.print(out, options.filter.limit.value_or(UINT64_MAX));
}

void coverage(Output &out, const gpu::Launches &launches, const std::vector<PointUse> &uses) {
  for (uint32_t program = 0; program < launches.programs.size(); ++program) {
    uint64_t all = 0;
    uint64_t seen = 0;
    for (const PointUse &use : uses) {
      if (use.program != program) continue;
      ++all;
      seen += use.visits != 0 ? 1 : 0;
    }
    out.write(fmt::format("{}{}{}: {} of {} ran\n", out.bold(), launches.programs[program].file, out.plain(), seen,
                          plural(all, "point")));
    for (const PointUse &use : uses) {
      if (use.program != program || use.visits != 0) continue;
      out.write("  never: " + analyze::point_text(launches.programs[program], use.location) + "\n");
    }
  }
}

/// Least, greatest and mean of what lanes told at each point with values.
int values(const gpu::Launches &launches, const GpuOptions &options) {
  Listing list({{"point", nullptr, true},
                {nullptr, "program"},
                {nullptr, "location"},
                {"values", "values"},
                {"least", "least"},
                {"greatest", "greatest"},
                {"mean", "mean"}});
  bool any = false;
  for (uint32_t number = 0; number < launches.programs.size(); ++number) {
    const gpu::ProgramRecord &program = launches.programs[number];
    for (const uint16_t location : program.value_locations()) {
      if (program.is_access(location)) continue;
      const auto told = analyze::gpu_values(launches, number, location);
      if (!told) return report(told.error(), options.file);
      if (told->size() == 0) continue;
      any = true;
      double least = told->number(0);
      double greatest = least;
      double sum = 0;
      for (size_t i = 0; i < told->size(); ++i) {
        const double value = told->number(i);
        least = std::min(least, value);
        greatest = std::max(greatest, value);
        sum += value;
      }
      const double mean = sum / static_cast<double>(told->size());
      list.add({words(analyze::point_text(program, location)),
                words(program.file),
                {"", location},
                count(told->size()),
                {fmt::format("{}", least), least},
                {fmt::format("{}", greatest), greatest},
                {fmt::format("{:.6g}", mean), mean}});
    }
  }
  Output out;
  if (options.json) {
    out.write(object_text("cairn.gpu.values/1", "points", list.json()));
  } else if (!any) {
    say("no point of this trace has values; cairn_value(x) in device code makes one");
  } else {
    list.print(out, options.filter.limit.value_or(UINT64_MAX));
  }
  return out.finish();
}

int accesses(const gpu::Launches &launches, const GpuOptions &options) {
  auto uses = analyze::gpu_accesses(launches);
  if (!uses) return report(uses.error(), options.file);
  Output out;
  if (uses->empty() && !options.json) {
    const auto &programs = launches.programs;
    say(std::any_of(programs.begin(), programs.end(), [](const auto &program) { return program.has_accesses(); })
            ? "no warp that was traced came to an access; cairn info tells what was not traced"
            : "this trace has no accesses to memory; cairn instrument --accesses puts points at them");
  } else {
    print_accesses(out, launches, *std::move(uses), options.filter.limit.value_or(UINT64_MAX), options.json);
  }
  return out.finish();
}

int blocks(const gpu::Launches &launches, const GpuOptions &options) {
  Output out;
  const auto printed =
      print_blocks(out, launches, {options.launch, options.filter.limit.value_or(UINT64_MAX), options.json});
  if (!printed) return report(printed.error(), options.file);
  if (!*printed) {
    say(std::string(options.launch ? "this launch was traced without clocks" : "this trace has no clocks of warps") +
        "; run the program with CAIRN_GPU_CLOCKS=1, or with =only where that is all that is wanted");
  }
  return out.finish();
}

int sizes(const gpu::Launches &launches, uint64_t file_bytes, const GpuOptions &options) {
  const auto found = analyze::gpu_sizes(launches);
  if (!found) return report(found.error(), options.file);
  Output out;
  if (options.json) {
    nlohmann::ordered_json object{{"schema", "cairn.gpu.sizes/1"}, {"events", found->events},
                                  {"warps", found->warps},         {"streams", found->streams},
                                  {"plain", found->plain},         {"values", found->values}};
    object["coded"]["predict"] = found->coded;
    object["file"] = file_bytes;
    out.write(object.dump(2) + "\n");
    return out.finish();
  }
  Listing list({{"form", nullptr, true}, {"bytes"}, {"times smaller"}});
  const auto add = [&](const std::string &form, uint64_t bytes) {
    const uint64_t plain = found->plain + found->values;
    const double times = bytes == 0 ? 0 : static_cast<double>(plain) / static_cast<double>(bytes);
    list.add({words(form), count(bytes), words(fmt::format("{:.1f}", times))});
  };
  add(found->values == 0 ? "events as they are" : "events and values as they are", found->plain + found->values);
  add("predict, on the device", found->coded);
  add("this trace", file_bytes);
  out.write(fmt::format("{} of {} of {}\n", plural(found->events, "event"), plural(found->warps, "warp"),
                        plural(found->streams, "kind")));
  list.print(out, options.filter.limit.value_or(UINT64_MAX));
  return out.finish();
}

/// When each launch was made and ran, rank by rank.
int launches_of(const trace::Trace &trace, const gpu::Launches &launches, const GpuOptions &options) {
  const std::vector<analyze::TimedLaunch> timed = analyze::launches_in_order(trace, launches);
  if (std::none_of(timed.begin(), timed.end(), [](const auto &each) { return each.made_ns.has_value(); })) {
    say("this trace does not tell when its launches were made; compile the program with this Cairn's headers and "
        "record "
        "it again");
  }
  const Listing list = launch_list(launches, timed, options.filter.limit.value_or(UINT64_MAX));
  Output out;
  if (options.json) {
    out.write(object_text("cairn.gpu.launches/1", "launches", list.json()));
  } else if (options.csv) {
    out.write(list.csv());
  } else {
    list.print(out);
  }
  return out.finish();
}

/// How often loops turned.
int trips(const gpu::Launches &launches, const GpuOptions &options) {
  const auto loops = analyze::loop_trips(launches);
  if (!loops) return report(loops.error(), options.file);
  Listing list({{"loop", nullptr, true},
                {nullptr, "program"},
                {nullptr, "location"},
                {"gone through", "times"},
                {"least", "least"},
                {"mean", "mean"},
                {"most", "most"},
                {nullptr, "turns"},
                {nullptr, "lanes"},
                {nullptr, "lane_turns"},
                {"lost lanes", "lost_lanes"},
                {"efficiency", "efficiency"},
                {"% of lanes by turns", "lanes_by_turns", true, 1}});
  for (const analyze::LoopTrips &loop : *loops) {
    const gpu::ProgramRecord &program = launches.programs[loop.program];
    std::string text;
    auto parts = nlohmann::ordered_json::array();
    for (const auto &[from, lanes] : loop.lanes_by_turns) {
      const uint64_t to = from - 1 + from;
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", from == to ? grouped(from) : grouped(from) + "+",
                          share(lanes, loop.lanes).text);
      parts.push_back({{"from", from}, {"to", to}, {"lanes", lanes}});
    }
    list.add({words(analyze::point_text(program, loop.location)),
              words(program.file),
              {"", loop.location},
              count(loop.times),
              count(loop.least),
              {fmt::format("{:.1f}", loop.mean()), loop.mean()},
              count(loop.most),
              count(loop.turns),
              count(loop.lanes),
              count(loop.lane_turns),
              count(loop.lost),
              {fmt::format("{:.1f} %", 100 * loop.efficiency()), loop.efficiency()},
              {text, std::move(parts)}});
  }
  Output out;
  if (options.json) {
    out.write(object_text("cairn.gpu.loops/1", "loops", list.json()));
  } else if (loops->empty()) {
    say("no warp went through a loop");
  } else {
    list.print(out, options.filter.limit.value_or(UINT64_MAX));
  }
  return out.finish();
}

/// Stacks for flame graphs.
int folded(const gpu::Launches &launches, const GpuOptions &options) {
  const analyze::Weight weight = options.weight == "lost"     ? analyze::Weight::lost
                                 : options.weight == "visits" ? analyze::Weight::visits
                                                              : analyze::Weight::lanes;
  const auto stacks = analyze::folded_stacks(launches, weight);
  if (!stacks) return report(stacks.error(), options.file);
  Output out;
  if (options.json) {
    auto all = nlohmann::ordered_json::array();
    for (const auto &[stack, each] : *stacks) all.push_back({{"stack", valid_utf8(stack)}, {"weight", each}});
    out.write(object_text("cairn.gpu.folded/1", "stacks", std::move(all)));
  } else {
    for (const auto &[stack, each] : *stacks) out.write(fmt::format("{} {}\n", stack, each));
  }
  return out.finish();
}

/// Answers from the points alone.
int by_points(const gpu::Launches &launches, const GpuOptions &options) {
  auto uses = analyze::gpu_points(launches);
  if (!uses) return report(uses.error(), options.file);
  Output out;
  if (options.question == "source") {
    print_sources(out, launches, *uses, {options.file, options.folders, options.filter.limit, options.json});
  } else if (options.json) {
    auto points = nlohmann::ordered_json::array();
    for (const PointUse &use : *uses) points.push_back(json_of(launches, use));
    out.write(object_text("cairn.gpu/1", "points", std::move(points)));
  } else if (options.question == "coverage") {
    coverage(out, launches, *uses);
  } else {
    divergence(out, launches, *std::move(uses), options);
  }
  return out.finish();
}

/// Warps have clocks, and none has an event.
bool has_clocks_alone(const gpu::Launches &launches) {
  const auto &all = launches.launches;
  const auto has_none = [](const gpu::WarpStreams &warp) { return warp.streams.empty() && warp.lost == 0; };
  return std::any_of(all.begin(), all.end(), [](const auto &launch) { return !launch.clocks.empty(); }) &&
         std::all_of(all.begin(), all.end(), [&](const auto &launch) {
           return std::all_of(launch.warps.begin(), launch.warps.end(), has_none);
         });
}

int answer(GpuOptions &options) {
  if (options.csv && options.question != "launches") {
    return report(Error{ErrorKind::usage,
                        "--csv prints launches, not " + options.question,
                        {},
                        Error::kNoOffset,
                        "cairn gpu launches --csv"});
  }
  if (options.launch && options.question != "blocks") {
    return report(Error{ErrorKind::usage,
                        "--launch is of blocks, not of " + options.question,
                        {},
                        Error::kNoOffset,
                        "cairn gpu blocks --launch 0"});
  }
  const auto trace = open_trace(options);
  if (!trace) return report(trace.error());
  const auto launches = kernels_of(*trace, options.file);
  if (!launches) return report(launches.error());
  if (options.question == "launches") return launches_of(*trace, *launches, options);
  if (options.question == "sizes") return sizes(*launches, trace->section_bytes().at("total"), options);
  if (options.question == "blocks") return blocks(*launches, options);
  if (!options.json && has_clocks_alone(*launches)) {
    say("this trace has the clocks of warps and no events, as CAIRN_GPU_CLOCKS=only asks for; see cairn gpu blocks");
    return kFine;
  }
  if (options.question == "accesses") return accesses(*launches, options);
  if (options.question == "values") return values(*launches, options);
  if (options.question == "loops") return trips(*launches, options);
  if (options.question == "folded") return folded(*launches, options);
  return by_points(*launches, options);
}

}  // namespace

Action declare_gpu(Options &verb) {
  auto options = std::make_shared<GpuOptions>();
  verb.needed(
      "question", options->question,
      {"divergence", "source", "loops", "folded", "coverage", "accesses", "blocks", "values", "launches", "sizes"},
      "divergence, source, loops, folded, coverage, accesses, blocks, values, launches or sizes");
  add_file(verb, *options);
  verb.number("--limit", options->filter.limit, "At most N lines", "N");
  add_json(verb, *options);
  verb.number("--launch", options->launch, "Of blocks: one launch, multiprocessor by multiprocessor", "N");
  verb.flag("--csv", options->csv, "Of launches: print them as CSV");
  verb.repeated("--sources", options->folders, "Of source: where the sources are", "DIR");
  verb.choice("--weigh", options->weight, {"lanes", "lost", "visits"},
              "Of folded: lanes that came to a point, those of the warp that did not, or visits of warps", "WHAT");
  verb.apart("--csv", "--json", "--csv and --json cannot go together");
  return [options] { return answer(*options); };
}

}  // namespace cairn::cli
