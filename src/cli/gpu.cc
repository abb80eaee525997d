// cairn gpu: how well GPU kernels used their warps (divergence), which of their code ran (coverage), what lanes told at
// points with values (values), and how small what they recorded is (sizes).
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/inspect.h"
#include "cli/verbs.h"
#include "gpu/analyze/points.h"
#include "gpu/analyze/sizes.h"
#include "gpu/analyze/values.h"
#include "terminal/options.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::cli {
namespace {

using analyze::PointUse;

struct GpuOptions : Inspection {
  std::string question;
};

nlohmann::ordered_json json_of(const gpu::Launches &launches, const PointUse &use) {
  const gpu::ProgramRecord &program = launches.programs[use.program];
  const gpu::LocationRecord *location = program.find(use.location);
  nlohmann::ordered_json out;
  out["program"] = valid_utf8(program.file);
  out["location"] = use.location;
  if (location != nullptr) {
    out["kind"] = name_of(location->kind);
    out["function"] = valid_utf8(location->function);
    out["file"] = valid_utf8(location->file);
    out["line"] = location->line;
  }
  out["visits"] = use.visits;
  out["mean_lanes"] = use.mean_lanes();
  out["efficiency"] = use.efficiency();
  out["worst"] = nlohmann::ordered_json::array();
  for (const analyze::WorstWarp &warp : use.worst) {
    out["worst"].push_back({{"launch", warp.launch}, {"warp", warp.warp}, {"mean_lanes", warp.mean_lanes}});
  }
  return out;
}

/// The lines of a table, of which at most as many as asked for.
void print(Output &out, const Table &table, const Inspection &inspection) {
  const std::vector<std::string> lines = table.lines();
  const uint64_t most = inspection.filter.limit ? *inspection.filter.limit + 1 : lines.size();
  for (size_t i = 0; i < lines.size() && i < most; ++i) {
    out.write((i == 0 ? out.bold() : "") + lines[i] + (i == 0 ? out.plain() : "") + "\n");
  }
}

/// Most idle lanes first.
void divergence(Output &out, const gpu::Launches &launches, std::vector<PointUse> uses, const GpuOptions &options) {
  const auto idle = [](const PointUse &use) { return use.width - use.lanes; };
  std::stable_sort(uses.begin(), uses.end(), [&](const PointUse &a, const PointUse &b) { return idle(a) > idle(b); });
  std::erase_if(uses, [](const PointUse &use) { return use.visits == 0; });
  Table table({"point", "visits", "mean lanes", "efficiency", "worst warps (launch/warp: lanes)"},
              {true, false, false, false, true});
  for (const PointUse &use : uses) {
    std::string worst;
    for (const analyze::WorstWarp &warp : use.worst) {
      worst += fmt::format("{}{}/{}: {:.1f}", worst.empty() ? "" : ", ", warp.launch, warp.warp, warp.mean_lanes);
    }
    table.add({analyze::point_text(launches.programs[use.program], use.location), grouped(use.visits),
               fmt::format("{:.1f}", use.mean_lanes()), fmt::format("{:.1f} %", 100 * use.efficiency()), worst});
  }
  print(out, table, options);
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
  Output out;
  Table table({"point", "values", "least", "greatest", "mean"}, {true, false, false, false, false});
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (uint32_t number = 0; number < launches.programs.size(); ++number) {
    const gpu::ProgramRecord &program = launches.programs[number];
    for (const uint16_t location : program.value_locations()) {
      auto told = analyze::gpu_values(launches, number, location);
      if (!told) {
        told.error().path = options.file;
        return report(told.error());
      }
      if (told->size() == 0) continue;
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
      table.add({analyze::point_text(program, location), grouped(told->size()), fmt::format("{}", least),
                 fmt::format("{}", greatest), fmt::format("{:.6g}", mean)});
      points.push_back({{"program", valid_utf8(program.file)},
                        {"location", location},
                        {"values", told->size()},
                        {"least", least},
                        {"greatest", greatest},
                        {"mean", mean}});
    }
  }
  if (options.json) {
    nlohmann::ordered_json object;
    object["schema"] = "cairn.gpu.values/1";
    object["points"] = std::move(points);
    out.write(object.dump(2) + "\n");
  } else if (points.empty()) {
    say("no point of this trace has values; cairn_value(x) in device code makes one");
  } else {
    print(out, table, options);
  }
  return out.finish();
}

int sizes(const gpu::Launches &launches, uint64_t file_bytes, const GpuOptions &options) {
  auto found = analyze::gpu_sizes(launches);
  if (!found) {
    found.error().path = options.file;
    return report(found.error());
  }
  Output out;
  if (options.json) {
    nlohmann::ordered_json object;
    object["schema"] = "cairn.gpu.sizes/1";
    object["events"] = found->events;
    object["warps"] = found->warps;
    object["streams"] = found->streams;
    object["plain"] = found->plain;
    object["values"] = found->values;
    for (uint8_t coder = 0; coder < gpu::kCoders; ++coder) {
      object["coded"][std::string(name_of(static_cast<gpu::CoderKind>(coder)))] = found->coded[coder];
    }
    object["file"] = file_bytes;
    out.write(object.dump(2) + "\n");
    return out.finish();
  }
  Table table({"form", "bytes", "times smaller"}, {true, false, false});
  const auto add = [&](const std::string &form, uint64_t bytes) {
    const uint64_t plain = found->plain + found->values;
    const double times = bytes == 0 ? 0 : static_cast<double>(plain) / static_cast<double>(bytes);
    table.add({form, grouped(bytes), fmt::format("{:.1f}", times)});
  };
  const auto coded = [&](gpu::CoderKind coder) { return found->coded[static_cast<size_t>(coder)]; };
  if (found->values == 0) {
    add("events as they are", found->plain);
    add("thesis, on the device", coded(gpu::CoderKind::thesis));
  } else {
    add("events and values as they are", found->plain + found->values);
  }
  add("predict, on the device", coded(gpu::CoderKind::predict));
  add("this trace", file_bytes);
  out.write(fmt::format("{} of {} of {}\n", plural(found->events, "event"), plural(found->warps, "warp"),
                        plural(found->streams, "kind")));
  print(out, table, options);
  return out.finish();
}

int answer(GpuOptions &options) {
  const auto trace = open_trace(options);
  if (!trace) return report(trace.error());
  auto launches = analyze::gpu_launches(*trace);
  if (launches && launches->launches.empty()) {
    return report({ErrorKind::usage, "this trace holds no GPU kernels", options.file, Error::kNoOffset,
                   "trace some with cairn instrument"});
  }
  if (launches && options.question == "sizes") return sizes(*launches, trace->section_bytes().at("total"), options);
  if (launches && options.question == "values") return values(*launches, options);
  auto uses = launches ? analyze::gpu_points(*launches) : tl::unexpected(launches.error());
  if (!uses) {
    uses.error().path = options.file;
    return report(uses.error());
  }
  Output out;
  if (options.json) {
    nlohmann::ordered_json object;
    object["schema"] = "cairn.gpu/1";
    object["points"] = nlohmann::ordered_json::array();
    for (const PointUse &use : *uses) object["points"].push_back(json_of(*launches, use));
    out.write(object.dump(2) + "\n");
  } else if (options.question == "coverage") {
    coverage(out, *launches, *uses);
  } else {
    divergence(out, *launches, *std::move(uses), options);
  }
  return out.finish();
}

}  // namespace

void add_gpu(CLI::App &app, Run &run) {
  auto options = std::make_shared<GpuOptions>();
  Options verb(app, "gpu", "Tell how GPU warps diverged, which code ran, and how small that is");
  verb.needed("question", options->question, {"divergence", "coverage", "values", "sizes"},
              "divergence, coverage, values or sizes");
  add_file(verb, *options);
  verb.number("--limit", options->filter.limit, "At most N lines", "N");
  add_json(verb, *options);
  verb.chosen([options, &run] { run = [options] { return answer(*options); }; });
}

}  // namespace cairn::cli
