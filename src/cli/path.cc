// cairn path: the critical path, what the end of the run waited for.
#include <fmt/format.h>

#include <memory>

#include "cli/verbs.h"
#include "cli/wait_report.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::cli {
namespace {

using nlohmann::ordered_json;
using waits::Report;

Listing activities_of(const Report &report) {
  Listing list({{"on the path", "seconds"},
                {"%path", "share_of_path"},
                {"mean rank", "mean_seconds", false, 1},
                {"excess", "excess_seconds"},
                {"most by", "rank", false, 2},
                {nullptr, "rank_seconds"},
                {"while it was", "activity", true}});
  for (const waits::PathLine &line : report.path) {
    Cell excess = duration(line.ns > line.mean_ns ? line.ns - line.mean_ns : 0);
    list.add({duration(line.ns),
              share(line.ns, report.path_ns),
              duration(line.mean_ns),
              std::move(excess),
              {std::to_string(line.rank), line.rank},
              duration(line.rank_ns),
              activity_cell(report, line.activity)});
  }
  return list;
}

Listing ranks_of(const Report &report) {
  Listing list({{"rank", "rank"}, {"on the path", "seconds"}, {"%path", "share_of_path"}, {"run", "run_seconds"}});
  for (const waits::RankLine &rank : report.ranks) {
    list.add({{std::to_string(rank.rank), rank.rank},
              duration(rank.path_ns),
              share(rank.path_ns, report.path_ns),
              duration(rank.run_ns)});
  }
  return list;
}

struct PathOptions : Inspection {
  bool per_rank = false;
};

int path(PathOptions &options) {
  const auto trace = open_trace(options);
  if (!trace) return report(trace.error());
  const auto found = analyse_waits(*trace, "path");
  if (!found) return report(found.error(), options.file);
  say_exactness(*trace, Shown::begins_too);
  say_left_out(*found, *trace);
  Output out;
  if (options.json) {
    ordered_json json;
    json["schema"] = "cairn.path/1";
    json["file"] = valid_utf8(options.file);
    add_missing_calls(*trace, trace->ranks(), &json);
    json["run_seconds"] = duration(found->efficiency.run_ns).json;
    json["path_seconds"] = duration(found->path_ns).json;
    json["ends_on_rank"] = found->path_rank;
    json["activities"] = activities_of(*found).json();
    json["ranks"] = ranks_of(*found).json();
    out.write(json.dump(2) + "\n");
    return out.finish();
  }
  if (options.csv) {
    out.keep_lines();
    out.write((options.per_rank ? ranks_of(*found) : activities_of(*found)).csv());
    return out.finish();
  }
  out.write(fmt::format("{}{}{}: {}\n", out.bold(), options.file, out.plain(), trace->run().command));
  out.write(fmt::format("critical path of {}: {}, of a run of {}; it ends on rank {}\n\n",
                        plural(found->ranks.size(), "rank"), time_text(found->path_ns),
                        time_text(found->efficiency.run_ns), found->path_rank));
  constexpr uint64_t kMost = 20;
  if (options.per_rank) {
    ranks_of(*found).print(out, options.filter.limit.value_or(UINT64_MAX));
  } else {
    activities_of(*found).print(out, options.filter.limit.value_or(kMost));
  }
  return out.finish();
}

}  // namespace

Action declare_path(Options &verb) {
  auto options = std::make_shared<PathOptions>();
  add_file(verb, *options);
  verb.flag("--per-rank", options->per_rank, "How much of the path each rank has");
  verb.number("--limit", options->filter.limit, "At most N lines (default: 20)", "N");
  add_csv_and_json(verb, *options, "a line for each thing that was done on the path, or each rank");
  return [options] { return path(*options); };
}

}  // namespace cairn::cli
