// cairn export: a run in the forms that other tools read: timelines, archives of events, tables, flame graphs, graphs,
// actions. docs/export.md says what stands in each.
#include <algorithm>
#include <memory>
#include <string_view>

#include "cli/export_forms.h"
#include "cli/simgrid.h"
#include "cli/verbs.h"
#include "terminal/terminal.h"
#include "timing/mode.h"

namespace cairn::cli {
namespace {

int export_simgrid(const ExportOptions &options, const trace::Trace &trace) {
  const double speed = options.speed.value_or(1e9);
  if (!(speed > 0 && speed < 1e18)) {
    return refuse("a host's speed is a number of flops a second above 0", "write it as in --speed 1e9");
  }
  return write_simgrid(trace, options.file, options.output, {speed, !options.no_gaps});
}

/// What only some forms have.
struct Only {
  const char *option;
  std::initializer_list<const char *> forms;
};
const Only kOnly[] = {
    {"--rank", {"perfetto", "chrome", "otf2", "csv", "sqlite", "folded", "dot"}},
    {"--time", {"perfetto", "chrome", "otf2", "csv", "sqlite", "dot"}},
    {"--function", {"perfetto", "chrome", "otf2", "csv", "sqlite", "folded"}},
    {"--logical", {"perfetto", "chrome", "otf2"}},
    {"--no-arrows", {"perfetto", "chrome"}},
    {"--graph", {"dot"}},
    {"--launch", {"perfetto", "chrome"}},
    {"--warp", {"perfetto", "chrome"}},
    {"--limit", {"perfetto", "chrome"}},
    {"--no-points", {"perfetto", "chrome"}},
    {"--speed", {"simgrid"}},
    {"--no-gaps", {"simgrid", "goal"}},
};

int export_trace(const Options &verb, ExportOptions &options) {
  for (const Only &each : kOnly) {
    const bool may =
        std::any_of(each.forms.begin(), each.forms.end(), [&](const char *form) { return options.to == form; });
    if (may || !verb.given(each.option)) continue;
    std::string forms;
    for (const char *form : each.forms) forms += (forms.empty() ? "" : ", ") + std::string(form);
    return refuse(std::string(each.option) + " says nothing to --to " + options.to, "it is for " + forms);
  }
  if (options.graph == "grammar" && verb.given("--time")) {
    return refuse("--graph grammar is of whole rules, of all calls and times", "leave --time out");
  }
  const auto trace = open_trace(options);
  if (!trace) return report(trace.error());
  if (options.to == "simgrid") return export_simgrid(options, *trace);
  const bool timeline = options.to == "perfetto" || options.to == "chrome";
  if (timeline && (options.names_warps() || trace->class_count() == 0)) return export_warps(options, *trace);
  return export_calls(options, *trace);
}

}  // namespace

Action declare_export(Options &verb) {
  auto options = std::make_shared<ExportOptions>();
  add_file(verb, *options);
  verb.choice(
      "--to", options->to, {"perfetto", "chrome", "otf2", "csv", "sqlite", "folded", "dot", "simgrid", "goal"},
      "The form: perfetto, for ui.perfetto.dev, which is meant if left out; chrome, the same as JSON; otf2, for "
      "Vampir, Scalasca and Pipit; csv and sqlite, tables; folded, for flame graphs; dot, for Graphviz; "
      "simgrid, for smpirun -replay; goal, for LogGOPSim",
      "FORM");
  verb.text("-o,--output", options->output,
            "Where it goes: a file, of otf2, csv and simgrid a folder; standard output if left out, where the form can",
            "FILE");
  verb.text("--rank", options->filter.ranks, "Only these ranks, as in 0-7,12; ^3 leaves one out", "LIST");
  verb.text("--time", options->filter.time, "Only calls that overlap START+LENGTH, as in 1s+20ms", "START+LENGTH");
  verb.repeated("--function", options->filter.functions, "Only functions that match, as in 'MPI_*send,^MPI_Rsend'",
                "GLOB");
  verb.flag("--logical", options->logical, "Of a trace without times: a microsecond for each call of a rank");
  verb.flag("--no-arrows", options->no_arrows, "Of timelines: no arrows from sends to receives; one rank at a time");
  verb.choice("--graph", options->graph, {"messages", "grammar"}, "For dot: who sends how much to whom, or the rules",
              "WHAT");
  verb.text("--launch", options->launches, "Of GPU kernels: only these launches, as in 0-7,12", "LIST");
  verb.text("--warp", options->warps, "Of GPU kernels: only these warps of their grids, as in 0-7,12", "LIST");
  verb.number("--limit", options->filter.limit, "Of GPU kernels: at most N events of each warp", "N");
  verb.flag("--no-points", options->no_points,
            "Of GPU kernels: functions, loops and lanes only, without each single event");
  verb.real("--speed", options->speed, "For simgrid: the speed of the hosts that were recorded (default: 1e9)",
            "FLOPS");
  verb.flag("--no-gaps", options->no_gaps, "For simgrid and goal: nothing between calls takes time");
  return [options, &verb] { return export_trace(verb, *options); };
}

}  // namespace cairn::cli
