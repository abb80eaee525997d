#include "tell/summary_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/decode.h"
#include "tell/sites.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::cli {

using analyze::GroupBy;
using analyze::Summary;
using analyze::SummaryLine;

namespace {

Cell bytes_cell(const SummaryLine &line) {
  if (!line.moves) return nothing();
  if (line.unsized_calls == line.calls) return {"unknown", line.bytes};
  return {(line.unsized_calls == 0 ? "" : ">= ") + bytes_text(line.bytes), line.bytes};
}

Cell failed_cell(const SummaryLine &line) { return {line.failed == 0 ? "" : grouped(line.failed), line.failed}; }

const char *mark(bool estimate) { return estimate ? "~" : ""; }

Cell imbalance_cell(const SummaryLine &line) {
  if (!line.imbalance) return nothing();
  return {fmt::format("{}{:.2f}", mark(line.most->is_estimate), *line.imbalance), *line.imbalance};
}

/// Which rank spent most or least.
Cell rank_cell(const std::optional<analyze::OfRank> &of) {
  if (!of) return nothing();
  return {fmt::format("{}{}", mark(of->is_estimate), of->rank),
          {{"rank", of->rank}, {"seconds", duration(of->ns).json}, {"is_estimate", of->is_estimate}}};
}

/// `exact`: the times were.
std::vector<Cell> percentile_cells(const std::optional<timing::Percentiles> &found, bool exact) {
  if (!found) return std::vector<Cell>(4, nothing());
  const auto cell = [exact](const timing::Percentile &one) {
    Cell result = duration(one.ns);
    result.text.insert(0, mark(!exact || one.error != 0));
    return result;
  };
  const double error = std::max({found->median.error, found->p95.error, found->p99.error});
  return {cell(found->median), cell(found->p95), cell(found->p99), {"", error}};
}

Cell caller_cell(const analyze::Position &position) {
  const std::string begin = "    called at ";
  return {begin + position.short_text(), nullptr, begin.size() + position.brief().size()};
}

Cell callers_cell(const SummaryLine &line) {
  nlohmann::ordered_json callers = nlohmann::ordered_json::array();
  for (const analyze::Position &caller : line.callers) callers.push_back(site_json(caller));
  return {"", callers};
}

/// What shares of calls are of: the time in MPI, which MPI_Init and MPI_Finalize are no part of. It is exact: where the
/// times of calls are not, they may add up to more.
uint64_t shared_ns(const Summary &summary) {
  uint64_t sum = 0;
  for (const SummaryLine &line : summary.lines) {
    if (!summary.apart_ns || !analyze::is_apart(line.function)) sum += line.time_ns;
  }
  return summary.within.empty() ? summary.mpi_ns : std::max(summary.mpi_ns, sum);
}

Cell share_of_mpi(const Summary &summary, const SummaryLine &line, uint64_t all) {
  if (summary.apart_ns && analyze::is_apart(line.function)) return nothing();
  return share(line.time_ns, all);
}

Listing list_by_rank(const Summary &summary, uint64_t most) {
  Listing list({{"rank", "rank"},
                {"calls", "calls", false, 2},
                {summary.failures.empty() ? nullptr : "failed", "failed"},
                {"bytes", "bytes", false, 3},
                {nullptr, "calls_of_unknown_size"},
                {"outside", "outside_seconds"},
                {"in MPI", "seconds"},
                {"%run", "share_of_run"},
                {nullptr, "share_of_mpi"},
                {nullptr, "mean_seconds"},
                {"init + fin", "init_finalize_seconds", false, 4},
                {"most in", "most_in", true},
                {nullptr, "most_in_seconds"},
                {nullptr, "ranks"},
                {"host", "host", true, 5}});
  for (const SummaryLine &line : summary.lines) {
    if (most-- == 0) break;
    std::vector<Cell> cells = {{std::to_string(line.rank), line.rank},
                               count(line.calls),
                               failed_cell(line),
                               bytes_cell(line),
                               count(line.unsized_calls),
                               duration(line.outside_ns)};
    if (line.timed) {
      const uint64_t mean = line.calls == 0 ? 0 : line.time_ns / line.calls;
      cells.insert(cells.end(), {duration(line.time_ns), share(line.time_ns, line.run_ns),
                                 share(line.time_ns, summary.mpi_ns), duration(mean)});
    } else {
      cells.insert(cells.end(), 4, nothing());
    }
    cells.push_back(line.apart_ns ? duration(*line.apart_ns) : nothing());
    if (line.most_function) {
      const std::string name = analyze::function_name(*line.most_function);
      cells.push_back({fmt::format("{} {}", name, time_text(line.most_ns)), name});
      cells.push_back(duration(line.most_ns));
    } else {
      cells.insert(cells.end(), 2, nothing());
    }
    cells.push_back(count(line.ranks));
    cells.push_back(words(line.host));
    list.add(std::move(cells));
  }
  return list;
}

}  // namespace

Listing summary_list(const Summary &summary, uint64_t most) {
  if (summary.group == GroupBy::rank) return list_by_rank(summary, most);
  const bool by_site = summary.group == GroupBy::call_site;
  // Only where some did.
  const char *failed = summary.failures.empty() ? nullptr : "failed";
  std::vector<Column> columns = {{"function", "function", true},
                                 {"calls", "calls", false, 1},
                                 {failed, "failed"},
                                 {"bytes", "bytes", false, 3},
                                 {nullptr, "calls_of_unknown_size"},
                                 {"time", "seconds"},
                                 {"%MPI", "share_of_mpi"},
                                 {"%run", "share_of_run", false, 7},
                                 {"mean", "mean_seconds", false, 5},
                                 {"median", "median_seconds", false, 2},
                                 {"p95", "p95_seconds", false, 7},
                                 {"p99", "p99_seconds", false, 4},
                                 {nullptr, "percentile_error"},
                                 {"max", "max_seconds", false, 5},
                                 {"ranks", "ranks", false, 6},
                                 {"imbalance", "imbalance", false, 1},
                                 {nullptr, "imbalance_is_estimate"},
                                 {"least on", "least", false, 2},
                                 {"most on", "most", false, 4}};
  if (by_site) columns.insert(columns.end(), {{"call site", "site", true}, {nullptr, "callers"}});
  Listing list(std::move(columns));
  const uint64_t all_ns = shared_ns(summary);
  for (const SummaryLine &line : summary.lines) {
    if (most-- == 0) break;
    std::vector<Cell> cells = {words(analyze::function_name(line.function)), count(line.calls), failed_cell(line),
                               bytes_cell(line), count(line.unsized_calls)};
    if (line.timed) {
      const uint64_t mean = line.calls == 0 ? 0 : line.time_ns / line.calls;
      cells.insert(cells.end(), {duration(line.time_ns), share_of_mpi(summary, line, all_ns),
                                 share(line.time_ns, summary.run_ns), line.calls == 0 ? nothing() : duration(mean)});
      for (Cell &cell : percentile_cells(line.percentiles, summary.within.empty())) cells.push_back(std::move(cell));
      cells.push_back(line.longest_ns == 0 ? nothing() : duration(line.longest_ns));
    } else {
      cells.insert(cells.end(), 9, nothing());
    }
    cells.insert(cells.end(), {count(line.ranks),
                               imbalance_cell(line),
                               {"", line.imbalance && line.most->is_estimate},
                               rank_cell(line.least),
                               rank_cell(line.most)});
    if (by_site) cells.insert(cells.end(), {site_cell(line.position), callers_cell(line)});
    list.add(std::move(cells));
    for (const analyze::Position &caller : line.callers) list.add_below(caller_cell(caller));
  }
  return list;
}

nlohmann::ordered_json summary_json(const std::string &path, const Summary &summary, const Listing &list) {
  nlohmann::ordered_json out;
  out["schema"] = "cairn.summary/1";
  out["file"] = valid_utf8(path);
  out["by"] = summary.group == GroupBy::rank ? "rank" : summary.group == GroupBy::call_site ? "call_site" : "function";
  out["calls"] = summary.calls;
  out["failed_calls"] = analyze::failed_calls(summary.failures);
  out["failures"] = summary.failures;
  out["run_seconds"] = duration(summary.run_ns).json;
  out["outside_seconds"] = duration(summary.outside_ns).json;
  out["mpi_seconds"] = duration(summary.mpi_ns).json;
  out["init_finalize_seconds"] = summary.apart_ns ? duration(*summary.apart_ns).json : nullptr;
  out["times_are"] = summary.within.empty() ? "exact" : summary.within;
  out["mpi_imbalance"] = summary.mpi_imbalance;
  out["outside_imbalance"] = summary.outside_imbalance;
  out["slowest_rank"] = {{"rank", summary.slowest_rank}, {"outside_seconds", duration(summary.slowest_ns).json}};
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

}  // namespace cairn::cli
