// cairn waits: how long ranks waited in their calls, for which calls of others, and whose doing that was.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/verbs.h"
#include "cli/wait_report.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::cli {
namespace {

using nlohmann::ordered_json;
using waits::Pattern;
using waits::RankLine;
using waits::Report;

struct WaitsOptions : Inspection {
  bool per_rank = false;
};

/// The time of all ranks.
uint64_t run_ns(const Report &report) {
  uint64_t sum = 0;
  for (const RankLine &rank : report.ranks) sum += rank.run_ns;
  return sum;
}

Listing kinds_of(const Report &report) {
  Listing list({{"waited", "seconds"}, {"%run", "share_of_run"}, {"times", "count"}, {"kind", "kind", true}});
  const uint64_t all_ns = run_ns(report);
  for (size_t i = 0; i < waits::kPatterns; ++i) {
    const auto pattern = static_cast<Pattern>(i);
    uint64_t times = 0;
    for (const waits::WaitLine &line : report.lines) times += line.pattern == pattern ? line.count : 0;
    const uint64_t ns = report.waited_ns(pattern);
    if (times != 0) list.add({duration(ns), share(ns, all_ns), count(times), words(waits::name_of(pattern))});
  }
  return list;
}

Listing lines_of(const Report &report) {
  Listing list({{"waited", "seconds"},
                {"%run", "share_of_run"},
                {"times", "count", false, 1},
                {"longest", "longest_seconds", false, 2},
                {"rank", "longest_rank", false, 3},
                {nullptr, "longest_call"},
                {"for", "longest_for_rank", false, 3},
                {"kind", "kind", true, 4},
                {"in", "in", true},
                {"for", "for", true}});
  const uint64_t all_ns = run_ns(report);
  for (const waits::WaitLine &line : report.lines) {
    const bool other = waits::has_culprit(line.pattern);
    list.add({duration(line.ns),
              share(line.ns, all_ns),
              count(line.count),
              duration(line.longest.ns),
              {std::to_string(line.longest.rank), line.longest.rank},
              count(line.longest.call),
              other ? Cell{std::to_string(line.longest.culprit), line.longest.culprit} : nothing(),
              words(waits::name_of(line.pattern)),
              place_cell(report, line.victim),
              other ? place_cell(report, line.culprit) : nothing()});
  }
  return list;
}

Listing causes_of(const Report &report) {
  Listing list({{"waited", "seconds"},
                {"%waits", "share_of_waits"},
                {"ranks", "ranks", false, 2},
                {"most by", "rank"},
                {nullptr, "rank_seconds"},
                {"while they were", "activity", true}});
  uint64_t all_ns = 0;
  for (const waits::CauseLine &line : report.causes) all_ns += line.ns;
  for (const waits::CauseLine &line : report.causes) {
    list.add({duration(line.ns),
              share(line.ns, all_ns),
              count(line.ranks),
              {std::to_string(line.rank), line.rank},
              duration(line.rank_ns),
              activity_cell(report, line.activity)});
  }
  return list;
}

Listing ranks_of(const Report &report) {
  std::vector<Column> columns = {{"rank", "rank"},
                                 {"run", "seconds", false, 4},
                                 {"outside", "outside_seconds", false, 1},
                                 {"in MPI", "mpi_seconds", false, 3},
                                 {"waited", "waited_seconds"},
                                 {"%run", "waited_share"},
                                 {"others waited", "blamed_seconds"},
                                 {"on the path", "path_seconds", false, 2},
                                 {nullptr, "by_kind"}};
  Listing list(std::move(columns));
  for (const RankLine &rank : report.ranks) {
    ordered_json by_kind = ordered_json::object();
    for (size_t i = 0; i < waits::kPatterns; ++i) {
      if (rank.waited_ns[i] != 0) {
        by_kind[waits::name_of(static_cast<Pattern>(i))] = duration(rank.waited_ns[i]).json;
      }
    }
    const uint64_t waited = rank.all_waited_ns();
    list.add({{std::to_string(rank.rank), rank.rank},
              duration(rank.run_ns),
              duration(rank.outside_ns),
              duration(rank.run_ns - std::min(rank.run_ns, rank.outside_ns)),
              duration(waited),
              share(waited, rank.run_ns),
              duration(rank.blamed_ns),
              duration(rank.path_ns),
              {"", std::move(by_kind)}});
  }
  return list;
}

int waits(WaitsOptions &options) {
  const auto trace = open_trace(options);
  if (!trace) return report(trace.error());
  const auto found = analyse_waits(*trace, "waits", options.filter);
  if (!found) return report(found.error(), options.file);
  if (found->some && found->lines.empty()) say("no waiting matches");
  say_exactness(*trace, Shown::begins_too);
  say_left_out(*found, *trace);
  Output out;
  if (options.json) {
    ordered_json json;
    json["schema"] = "cairn.waits/1";
    json["file"] = valid_utf8(options.file);
    add_missing_calls(*trace, trace->ranks(), &json);
    json["run_seconds"] = duration(run_ns(*found)).json;
    json["waited_seconds"] = duration(found->all_waited_ns()).json;
    json["left_out"] = found->counts.left_out();
    json["reversed"] = found->reversed;
    json["kinds"] = kinds_of(*found).json();
    json["lines"] = lines_of(*found).json();
    json["causes"] = causes_of(*found).json();
    json["ranks"] = ranks_of(*found).json();
    out.write(json.dump(2) + "\n");
    return out.finish();
  }
  if (options.csv) {
    out.keep_lines();
    out.write((options.per_rank ? ranks_of(*found) : lines_of(*found)).csv());
    return out.finish();
  }
  const uint64_t all_ns = run_ns(*found);
  const uint64_t waited_ns = found->all_waited_ns();
  out.write(fmt::format("{}{}{}: {}\n", out.bold(), options.file, out.plain(), trace->run().command));
  out.write(fmt::format("{}, {} between MPI_Init and MPI_Finalize: waited {} for others, {} %\n\n",
                        plural(found->ranks.size(), "rank"), time_text(all_ns), time_text(waited_ns),
                        share(waited_ns, all_ns).text));
  constexpr uint64_t kMost = 12;
  const uint64_t most = options.filter.limit.value_or(kMost);
  if (options.per_rank) {
    ranks_of(*found).print(out, options.filter.limit.value_or(UINT64_MAX));
    return out.finish();
  }
  if (found->lines.empty()) return out.finish();
  kinds_of(*found).print(out);
  out.write(fmt::format("\n{}where{}\n", out.bold(), out.plain()));
  lines_of(*found).print(out, most);
  if (!found->causes.empty()) {
    out.write(fmt::format("\n{}what those did meanwhile that were waited for{}\n", out.bold(), out.plain()));
    causes_of(*found).print(out, most);
  }
  const size_t longer = std::max(found->lines.size(), found->causes.size());
  if (longer > most && !options.filter.limit) {
    say(fmt::format("the first {} lines of at most {} are shown; --limit shows more", most, grouped(longer)));
  }
  return out.finish();
}

}  // namespace

Action declare_waits(Options &verb) {
  auto options = std::make_shared<WaitsOptions>();
  add_file(verb, *options);
  verb.flag("--per-rank", options->per_rank, "A line for each rank");
  verb.text("--rank", options->filter.ranks, "Only waiting of these ranks, as in 0-7,12", "LIST");
  verb.repeated("--function", options->filter.functions, "Only waiting in functions that match, as in 'MPI_Wait*'",
                "GLOB");
  verb.repeated("--site", options->filter.sites, "Only waiting in calls made at main.c:42, in main.c or by exchange",
                "WHERE");
  verb.text("--time", options->filter.time, "Only waiting in calls that overlap START+LENGTH, as in 1s+20ms",
            "START+LENGTH");
  verb.number("--limit", options->filter.limit, "At most N lines of each table (default: 12)", "N");
  add_csv_and_json(verb, *options, "a line for each pair of calls of which one waits for the other, or each rank");
  return [options] { return waits(*options); };
}

}  // namespace cairn::cli
