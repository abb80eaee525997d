// cairn summary: calls, bytes and times by function, call site or rank.
#include "analyze/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "analyze/decode.h"
#include "cli/inspect.h"
#include "cli/launch_list.h"
#include "cli/reading.h"
#include "cli/verbs.h"
#include "gpu/analyze/points.h"
#include "tell/summary_list.h"
#include "terminal/listing.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::cli {
namespace {

using analyze::GroupBy;
using analyze::Summary;
using analyze::SummaryLine;

struct SummaryOptions : Inspection {
  bool call_sites = false;
  bool per_rank = false;
  std::string sort = "time";
};

/// Parameters of one function that are of one length go together.
std::vector<std::string> flag_lines(const std::vector<analyze::RedFlag> &flags) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < flags.size();) {
    const analyze::RedFlag &first = flags[i];
    std::string line = analyze::function_name(first.function);
    const auto alike = [&](const analyze::RedFlag &flag) {
      return flag.function == first.function && flag.elements == first.elements &&
             flag.by_definition == first.by_definition && flag.position.short_text() == first.position.short_text();
    };
    for (const size_t begin = i; i < flags.size() && alike(flags[i]); ++i) {
      line += fmt::format("{} {}", i == begin ? "" : ",", flags[i].parameter);
    }
    line += fmt::format(": {} elements, ", grouped(first.elements));
    line += first.by_definition ? "as many as the communicator has processes" : "which follows the number of ranks";
    const std::string where = first.position.short_text();
    lines.push_back(where.empty() ? line : line + " (" + where + ")");
  }
  return lines;
}

using Kernels = std::vector<analyze::KernelUse>;

/// None where some calls are chosen: kernels are none of them.
Result<Kernels> kernels_beside(const trace::Trace &trace, const analyze::Filter &filter, const Summary &summary) {
  if (summary.filtered) return Kernels();
  const auto launches = analyze::gpu_launches(trace);
  if (!launches) return tl::unexpected(launches.error());
  return analyze::kernel_uses(*launches, filter.ranks);
}

std::string launches_text(const Kernels &kernels) {
  uint64_t launches = 0;
  for (const analyze::KernelUse &use : kernels) launches += use.launches;
  return plural(launches, "launch", "launches");
}

/// Where the time went, and which rank the others wait for.
std::string head_text(const Summary &summary, uint64_t ranks) {
  const auto percent = [&](uint64_t part) { return share(part, summary.run_ns).text; };
  std::string text = fmt::format("{}, {}{}; {} of run time:\n", plural(ranks, "rank"), plural(summary.calls, "call"),
                                 summary.filtered ? " that match" : "", time_text(summary.run_ns));
  text += fmt::format("{:>9} % outside MPI   {}, imbalance {:.2f}", percent(summary.outside_ns),
                      time_text(summary.outside_ns), summary.outside_imbalance);
  if (ranks > 1) {
    text += fmt::format(", rank {} longest: {}", summary.slowest_rank, time_text(summary.slowest_ns));
  }
  text += fmt::format("\n{:>9} % in MPI        {}, imbalance {:.2f}\n", percent(summary.mpi_ns),
                      time_text(summary.mpi_ns), summary.mpi_imbalance);
  if (summary.apart_ns) {
    text += fmt::format("{:>9} % in MPI_Init and MPI_Finalize, {}\n", percent(*summary.apart_ns),
                        time_text(*summary.apart_ns));
  }
  if (!summary.within.empty()) text += fmt::format("times of calls are {} of what they were\n", summary.within);
  if (!summary.failures.empty()) {
    text += fmt::format("{} failed: {}\n", plural(analyze::failed_calls(summary.failures), "call"),
                        failures_text(summary.failures));
  }
  return text;
}

void print_text(Output &out, const std::string &path, const trace::Trace &trace, const Summary &summary,
                const Listing &list, const Kernels &kernels, uint64_t ranks) {
  out.write(fmt::format("{}{}{}: {}\n", out.bold(), path, out.plain(), trace.run().command));
  out.write(head_text(summary, ranks) + "\n");
  list.print(out);
  if (!kernels.empty()) {
    out.write(fmt::format("\n{}{} of GPU kernels{}\n", out.bold(), launches_text(kernels), out.plain()));
    kernel_list(kernels).print(out);
  }
  if (!summary.flags.empty()) {
    out.write(fmt::format("\n{}grows with the ranks{}\n", out.warning(), out.plain()));
    for (const std::string &line : flag_lines(summary.flags)) out.write("  " + line + "\n");
  }
}

int summary(SummaryOptions &options) {
  const auto trace = open_trace(options, Open::wanted_ranks);
  if (!trace) return report(trace.error());
  const analyze::Sources sources(*trace);
  auto filter = analyze::make_filter(options.filter, *trace, sources);
  if (!filter) return report(filter.error());
  const GroupBy group = options.per_rank ? GroupBy::rank : options.call_sites ? GroupBy::call_site : GroupBy::function;
  Reading reading(*trace, filter->ranks);
  auto result = analyze::summarise(*trace, sources, *filter, group);
  reading.end();
  if (!result) return report(result.error(), options.file);
  if (options.sort == "calls" || options.sort == "bytes") {
    const bool by_calls = options.sort == "calls";
    std::stable_sort(result->lines.begin(), result->lines.end(), [&](const SummaryLine &a, const SummaryLine &b) {
      return by_calls ? a.calls > b.calls : a.bytes > b.bytes;
    });
  }
  const auto kernels = kernels_beside(*trace, *filter, *result);
  if (!kernels) return report(kernels.error(), options.file);
  for (const std::string &warning : sources.warnings()) say(warning);
  say_missing_calls(*trace, filter->ranks);
  if (result->within.empty()) say_exactness(*trace);  // else what is printed says so
  const bool none_matches = result->filtered && result->calls == 0;
  if (none_matches) {
    say("no call matches");
  } else if (result->times_missing && filter->chooses_by_values()) {
    say("times of some calls among others of one place are not in this trace; record with --timing context to see "
        "them");
  } else if (result->times_missing && !timing::keeps_nothing(trace->run().timing)) {
    say("not all times of single ranks are in this trace: of call sites they are kept for all ranks of a class "
        "together; record with --timing context to see them");
  }
  Output out;
  const Listing list = summary_list(*result, options.filter.limit.value_or(UINT64_MAX));
  if (none_matches && !options.json && !options.csv) return out.finish();
  if (options.json) {
    nlohmann::ordered_json object = summary_json(options.file, *result, list);
    add_missing_calls(*trace, filter->ranks, &object);
    if (!kernels->empty()) object["kernels"] = kernel_list(*kernels).json();
    out.write(object.dump(2) + "\n");
  } else if (options.csv) {
    out.keep_lines();
    out.write(list.csv());
  } else {
    print_text(out, options.file, *trace, *result, list, *kernels, filter->ranks.size());
  }
  return finish_sums(&out, result->damaged, options.file);
}

}  // namespace

Action declare_summary(Options &verb) {
  auto options = std::make_shared<SummaryOptions>();
  add_file(verb, *options);
  verb.flag("--callsites", options->call_sites, "A line for each call site");
  verb.flag("--per-rank", options->per_rank, "A line for each rank");
  verb.apart("--callsites", "--per-rank", "--callsites and --per-rank cannot go together");
  verb.choice("--sort", options->sort, {"time", "calls", "bytes"}, "Order of the lines: time, calls or bytes", "KEY");
  add_call_filters(verb, *options);
  verb.number("--limit", options->filter.limit, "At most N lines", "N");
  add_csv_and_json(verb, *options, "a line for each function, call site or rank");
  return [options] { return summary(*options); };
}

}  // namespace cairn::cli
