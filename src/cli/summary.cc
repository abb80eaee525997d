// cairn summary: calls, bytes and times by function, call site or rank.
#include "analyze/summary.h"

#include <fmt/format.h>

#include <memory>

#include "analyze/decode.h"
#include "cli/inspect.h"
#include "cli/verbs.h"
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

Cell bytes_cell(const SummaryLine &line) {
  if (!line.moves) return nothing();
  if (line.unsized_calls == line.calls) return {"unknown", line.bytes};
  return {(line.unsized_calls == 0 ? "" : ">= ") + bytes_text(line.bytes), line.bytes};
}

Cell imbalance_cell(const SummaryLine &line) {
  if (!line.imbalance) return nothing();
  return {fmt::format("{}{:.2f}", line.imbalance_is_estimate ? "~" : "", *line.imbalance), *line.imbalance};
}

nlohmann::ordered_json site_json(const analyze::Position &position) {
  return {{"module", valid_utf8(position.module)},
          {"offset", position.offset},
          {"function", valid_utf8(position.function)},
          {"file", valid_utf8(position.file)},
          {"line", position.line}};
}

Cell site_cell(const analyze::Position &position) {
  const std::string where = position.text();
  return {where.empty() ? "unknown" : where, site_json(position)};
}

Listing list_of(const Summary &summary, uint64_t most) {
  const bool by_rank = summary.group == GroupBy::rank;
  const bool by_site = summary.group == GroupBy::call_site;
  std::vector<Column> columns = {by_rank ? Column{"rank", "rank"} : Column{"function", "function", true},
                                 {"calls", "calls"},
                                 {"bytes", "bytes"},
                                 {nullptr, "calls_of_unknown_size"},
                                 {"time", "seconds"},
                                 {"%MPI", "share_of_mpi"},
                                 {"%run", "share_of_run"},
                                 {"mean", "mean_seconds"},
                                 {"max", "max_seconds"},
                                 {by_rank ? nullptr : "ranks", "ranks"}};
  if (by_rank) columns.push_back({"host", "host", true});
  if (!by_rank) columns.insert(columns.end(), {{"imbalance", "imbalance"}, {nullptr, "imbalance_is_estimate"}});
  if (by_site) columns.push_back({"call site", "site", true});
  Listing list(std::move(columns));
  for (const SummaryLine &line : summary.lines) {
    if (most-- == 0) break;
    std::vector<Cell> cells = {
        by_rank ? Cell{std::to_string(line.rank), line.rank} : words(analyze::function_name(line.function)),
        count(line.calls), bytes_cell(line), count(line.unsized_calls)};
    if (line.timed) {
      const uint64_t mean = line.calls == 0 ? 0 : line.time_ns / line.calls;
      cells.insert(cells.end(), {duration(line.time_ns), share(line.time_ns, summary.mpi_ns),
                                 share(line.time_ns, summary.run_ns), duration(mean), duration(line.longest_ns)});
      if (line.calls == 0) cells[7].text = "-";
      if (line.longest_ns == 0) cells[8].text = "-";
    } else {
      cells.insert(cells.end(), 5, nothing());
    }
    cells.push_back(count(line.ranks));
    if (by_rank) cells.push_back(words(line.host));
    if (!by_rank) cells.insert(cells.end(), {imbalance_cell(line), {"", line.imbalance_is_estimate}});
    if (by_site) cells.push_back(site_cell(line.position));
    list.add(std::move(cells));
  }
  return list;
}

/// Parameters of one function that are of one length go together.
std::vector<std::string> flag_lines(const std::vector<analyze::RedFlag> &flags) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < flags.size();) {
    const analyze::RedFlag &first = flags[i];
    std::string line = analyze::function_name(first.function);
    const auto alike = [&](const analyze::RedFlag &flag) {
      return flag.function == first.function && flag.elements == first.elements &&
             flag.by_definition == first.by_definition && flag.position.text() == first.position.text();
    };
    for (const size_t begin = i; i < flags.size() && alike(flags[i]); ++i) {
      line += fmt::format("{} {}", i == begin ? "" : ",", flags[i].parameter);
    }
    line += fmt::format(": {} elements, ", grouped(first.elements));
    line += first.by_definition ? "as many as the communicator has processes" : "which follows the number of ranks";
    const std::string where = first.position.text();
    lines.push_back(where.empty() ? line : line + " (" + where + ")");
  }
  return lines;
}

void print_text(Output &out, const std::string &path, const trace::Trace &trace, const Summary &summary,
                const Listing &list, uint64_t ranks) {
  out.write(fmt::format("{}{}{}: {}\n", out.bold(), path, out.plain(), trace.run().command));
  out.write(fmt::format("{}, {}, {} in MPI of {} run time ({} %), imbalance {:.2f}\n\n", plural(ranks, "rank"),
                        plural(summary.calls, "call"), time_text(summary.mpi_ns), time_text(summary.run_ns),
                        share(summary.mpi_ns, summary.run_ns).text, summary.mpi_imbalance));
  list.print(out);
  if (!summary.flags.empty()) {
    out.write(fmt::format("\n{}grows with the ranks{}\n", out.warning(), out.plain()));
    for (const std::string &line : flag_lines(summary.flags)) out.write("  " + line + "\n");
  }
}

nlohmann::ordered_json json_of(const std::string &path, const Summary &summary, const Listing &list) {
  nlohmann::ordered_json out;
  out["schema"] = "cairn.summary/1";
  out["file"] = valid_utf8(path);
  out["by"] = summary.group == GroupBy::rank ? "rank" : summary.group == GroupBy::call_site ? "call_site" : "function";
  out["calls"] = summary.calls;
  out["mpi_seconds"] = static_cast<double>(summary.mpi_ns) * 1e-9;
  out["run_seconds"] = static_cast<double>(summary.run_ns) * 1e-9;
  out["mpi_imbalance"] = summary.mpi_imbalance;
  out["lines"] = list.json();
  out["grows_with_ranks"] = nlohmann::ordered_json::array();
  for (const auto &flag : summary.flags) {
    out["grows_with_ranks"].push_back({{"function", analyze::function_name(flag.function)},
                                       {"parameter", flag.parameter},
                                       {"elements", flag.elements},
                                       {"by_definition", flag.by_definition},
                                       {"site", site_json(flag.position)}});
  }
  return out;
}

int summary(SummaryOptions &options) {
  const auto trace = open_trace(options, Open::wanted_ranks);
  if (!trace) return report(trace.error());
  auto filter = analyze::make_filter(options.filter, *trace);
  if (!filter) return report(filter.error());
  const analyze::Sources sources(*trace);
  const GroupBy group = options.per_rank ? GroupBy::rank : options.call_sites ? GroupBy::call_site : GroupBy::function;
  auto result = analyze::summarise(*trace, sources, *filter, group);
  if (!result) return report(result.error(), options.file);
  if (options.sort == "calls" || options.sort == "bytes") {
    const bool by_calls = options.sort == "calls";
    std::stable_sort(result->lines.begin(), result->lines.end(), [&](const SummaryLine &a, const SummaryLine &b) {
      return by_calls ? a.calls > b.calls : a.bytes > b.bytes;
    });
  }
  for (const std::string &warning : sources.warnings()) say(warning);
  if (result->times_missing) {
    say("times are kept for all ranks of a class together; record with "
        "--timing lossless to see those of single ranks");
  }
  Output out;
  const Listing list = list_of(*result, options.filter.limit.value_or(UINT64_MAX));
  if (options.json) {
    out.write(json_of(options.file, *result, list).dump(2) + "\n");
  } else {
    print_text(out, options.file, *trace, *result, list, filter->ranks.size());
  }
  return out.finish();
}

}  // namespace

Action declare_summary(Options &verb) {
  auto options = std::make_shared<SummaryOptions>();
  add_file(verb, *options);
  verb.flag("--callsites", options->call_sites, "A line for each call site");
  verb.flag("--per-rank", options->per_rank, "A line for each rank");
  verb.apart("--callsites", "--per-rank", "--callsites and --per-rank cannot go together");
  verb.choice("--sort", options->sort, {"time", "calls", "bytes"}, "Order of the lines: time, calls or bytes", "KEY");
  add_rank_and_function(verb, *options);
  verb.number("--limit", options->filter.limit, "At most N lines", "N");
  add_json(verb, *options);
  return [options] { return summary(*options); };
}

}  // namespace cairn::cli
