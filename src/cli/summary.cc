// cairn summary: calls, bytes and times by function, call site or rank.
#include "analyze/summary.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "analyze/decode.h"
#include "cli/inspect.h"
#include "cli/verbs.h"
#include "terminal/options.h"
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

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.1f}", 100 * share(part, whole));
}

std::string bytes_cell(const SummaryLine &line) {
  if (!line.moves) return "-";
  if (line.unsized_calls == line.calls) return "unknown";
  return line.unsized_calls == 0 ? bytes_text(line.bytes) : ">= " + bytes_text(line.bytes);
}

std::string imbalance_cell(const SummaryLine &line) {
  if (!line.imbalance) return "-";
  return fmt::format("{}{:.2f}", line.imbalance_is_estimate ? "~" : "", *line.imbalance);
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
                const SummaryOptions &options, uint64_t ranks) {
  out.write(fmt::format("{}{}{}: {}\n", out.bold(), path, out.plain(), trace.run().command));
  out.write(fmt::format("{}, {}, {} in MPI of {} run time ({} %), imbalance {:.2f}\n\n", plural(ranks, "rank"),
                        plural(summary.calls, "call"), time_text(summary.mpi_ns), time_text(summary.run_ns),
                        percent(summary.mpi_ns, summary.run_ns), summary.mpi_imbalance));
  const bool by_rank = summary.group == GroupBy::rank;
  std::vector<std::string> header = {
      by_rank ? "rank" : "function", "calls", "bytes", "time", "%MPI", "%run", "mean", "max"};
  if (!by_rank) header.insert(header.end(), {"ranks", "imbalance"});
  if (by_rank) header.emplace_back("host");
  if (summary.group == GroupBy::call_site) header.emplace_back("call site");
  std::vector<bool> left(header.size(), false);
  left.front() = !by_rank;
  if (by_rank || summary.group == GroupBy::call_site) left.back() = true;
  Table table(std::move(header), std::move(left));
  uint64_t shown = 0;
  for (const SummaryLine &line : summary.lines) {
    if (options.filter.limit && shown++ == *options.filter.limit) break;
    std::vector<std::string> cells = {by_rank ? fmt::format("{}", line.rank) : analyze::function_name(line.function),
                                      grouped(line.calls), bytes_cell(line)};
    if (line.timed) {
      cells.insert(cells.end(),
                   {time_text(line.time_ns), percent(line.time_ns, summary.mpi_ns),
                    percent(line.time_ns, summary.run_ns), line.calls == 0 ? "-" : time_text(line.time_ns / line.calls),
                    line.longest_ns == 0 ? "-" : time_text(line.longest_ns)});
    } else {
      cells.insert(cells.end(), 5, "-");
    }
    if (!by_rank) cells.insert(cells.end(), {grouped(line.ranks), imbalance_cell(line)});
    if (by_rank) cells.push_back(line.host);
    if (summary.group == GroupBy::call_site) {
      const std::string where = line.position.text();
      cells.push_back(where.empty() ? "unknown" : where);
    }
    table.add(std::move(cells));
  }
  const auto lines = table.lines();
  for (size_t i = 0; i < lines.size(); ++i) {
    out.write(i == 0 ? fmt::format("{}{}{}\n", out.dim(), lines[i], out.plain()) : lines[i] + "\n");
  }
  if (!summary.flags.empty()) {
    out.write(fmt::format("\n{}grows with the ranks{}\n", out.warning(), out.plain()));
    for (const std::string &line : flag_lines(summary.flags)) out.write("  " + line + "\n");
  }
}

nlohmann::ordered_json site_json(const analyze::Position &position) {
  nlohmann::ordered_json site;
  site["module"] = valid_utf8(position.module);
  site["offset"] = position.offset;
  site["function"] = valid_utf8(position.function);
  site["file"] = valid_utf8(position.file);
  site["line"] = position.line;
  return site;
}

std::string json_text(const std::string &path, const Summary &summary, const SummaryOptions &options) {
  nlohmann::ordered_json out;
  out["schema"] = "cairn.summary/1";
  out["file"] = valid_utf8(path);
  out["by"] = summary.group == GroupBy::rank ? "rank" : summary.group == GroupBy::call_site ? "call_site" : "function";
  out["calls"] = summary.calls;
  out["mpi_seconds"] = static_cast<double>(summary.mpi_ns) * 1e-9;
  out["run_seconds"] = static_cast<double>(summary.run_ns) * 1e-9;
  out["mpi_imbalance"] = summary.mpi_imbalance;
  out["lines"] = nlohmann::ordered_json::array();
  uint64_t shown = 0;
  for (const SummaryLine &line : summary.lines) {
    if (options.filter.limit && shown++ == *options.filter.limit) break;
    nlohmann::ordered_json entry;
    if (summary.group == GroupBy::rank) {
      entry["rank"] = line.rank;
      entry["host"] = valid_utf8(line.host);
    } else {
      entry["function"] = analyze::function_name(line.function);
    }
    if (summary.group == GroupBy::call_site) entry["site"] = site_json(line.position);
    entry["calls"] = line.calls;
    entry["ranks"] = line.ranks;
    entry["bytes"] = line.moves ? nlohmann::ordered_json(line.bytes) : nlohmann::ordered_json(nullptr);
    entry["calls_of_unknown_size"] = line.unsized_calls;
    const auto timed = [&](double value) {
      return line.timed ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
    };
    entry["seconds"] = timed(static_cast<double>(line.time_ns) * 1e-9);
    entry["share_of_mpi"] = timed(share(line.time_ns, summary.mpi_ns));
    entry["share_of_run"] = timed(share(line.time_ns, summary.run_ns));
    entry["mean_seconds"] = timed(share(line.time_ns, line.calls) * 1e-9);
    entry["max_seconds"] = timed(static_cast<double>(line.longest_ns) * 1e-9);
    if (summary.group != GroupBy::rank) {
      entry["imbalance"] = line.imbalance ? nlohmann::ordered_json(*line.imbalance) : nlohmann::ordered_json(nullptr);
      entry["imbalance_is_estimate"] = line.imbalance_is_estimate;
    }
    out["lines"].push_back(std::move(entry));
  }
  out["grows_with_ranks"] = nlohmann::ordered_json::array();
  for (const auto &flag : summary.flags) {
    nlohmann::ordered_json entry;
    entry["function"] = analyze::function_name(flag.function);
    entry["parameter"] = flag.parameter;
    entry["elements"] = flag.elements;
    entry["by_definition"] = flag.by_definition;
    entry["site"] = site_json(flag.position);
    out["grows_with_ranks"].push_back(std::move(entry));
  }
  return out.dump(2) + "\n";
}

int summary(SummaryOptions &options) {
  if (options.call_sites && options.per_rank) {
    return report(
        {ErrorKind::usage, "--callsites and --per-rank cannot go together", {}, Error::kNoOffset, "choose one"});
  }
  const auto trace = open_trace(options, Open::wanted_ranks);
  if (!trace) return report(trace.error());
  auto filter = analyze::make_filter(options.filter, *trace);
  if (!filter) return report(filter.error());
  const analyze::Sources sources(*trace);
  const GroupBy group = options.per_rank ? GroupBy::rank : options.call_sites ? GroupBy::call_site : GroupBy::function;
  auto result = analyze::summarise(*trace, sources, *filter, group);
  if (!result) {
    result.error().path = options.file;
    return report(result.error());
  }
  if (options.sort == "calls" || options.sort == "bytes") {
    const bool by_calls = options.sort == "calls";
    std::stable_sort(result->lines.begin(), result->lines.end(), [&](const SummaryLine &a, const SummaryLine &b) {
      return by_calls ? a.calls > b.calls : a.bytes > b.bytes;
    });
  }
  for (const std::string &warning : sources.warnings()) say(warning);
  if (result->times_missing) {
    say("times are kept for all ranks of a class together; record with --timing lossless to see those of single ranks");
  }
  Output out;
  if (options.json) {
    out.write(json_text(options.file, *result, options));
  } else {
    print_text(out, options.file, *trace, *result, options, filter->ranks.size());
  }
  return out.finish();
}

}  // namespace

void add_summary(CLI::App &app, Run &run) {
  auto options = std::make_shared<SummaryOptions>();
  Options verb(app, "summary", "Sum up calls, bytes and times");
  add_file(verb, *options);
  verb.flag("--callsites", options->call_sites, "A line for each call site");
  verb.flag("--per-rank", options->per_rank, "A line for each rank");
  verb.choice("--sort", options->sort, {"time", "calls", "bytes"}, "Order of the lines: time, calls or bytes", "KEY");
  add_rank_and_function(verb, *options);
  verb.number("--limit", options->filter.limit, "At most N lines", "N");
  add_json(verb, *options);
  verb.chosen([options, &run] { run = [options] { return summary(*options); }; });
}

}  // namespace cairn::cli
