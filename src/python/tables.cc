// What `cairn summary`, `loops`, `waits`, `efficiency` and `timeline` tell, from the functions that these ask.
#include <cmath>

#include "analyze/loops.h"
#include "analyze/summary.h"
#include "python/run.h"
#include "timeline/doing.h"
#include "timeline/strip.h"
#include "timing/setting.h"
#include "waits/report.h"

namespace cairn::python {
namespace {

py::object of_rank(const std::optional<analyze::OfRank> &of) {
  if (!of) return py::none();
  py::dict one;
  one["rank"] = of->rank;
  one["time_ns"] = of->ns;
  one["is_estimate"] = of->is_estimate;
  return one;
}

py::dict line_of(const analyze::Summary &summary, const analyze::SummaryLine &line) {
  py::dict one;
  const auto timed = [&](uint64_t time) { return if_known(line.timed, time); };
  if (summary.group == analyze::GroupBy::rank) {
    one["rank"] = line.rank;
  } else {
    one["function"] = text(analyze::function_name(line.function));
  }
  if (summary.group == analyze::GroupBy::call_site) {
    one["site"] = position(line.position);
    one["callers"] = positions(line.callers);
  }
  one["calls"] = line.calls;
  one["failed"] = line.failed;
  one["bytes"] = if_known(line.moves, line.bytes);
  one["calls_of_unknown_size"] = line.unsized_calls;
  one["time_ns"] = timed(line.time_ns);
  if (summary.group == analyze::GroupBy::rank) {
    one["run_ns"] = line.run_ns;
    one["outside_ns"] = line.outside_ns;
    one["init_finalize_ns"] = maybe(line.apart_ns);
    one["most_in"] = line.most_function ? py::object(text(analyze::function_name(*line.most_function))) : py::none();
    one["most_in_ns"] = if_known(line.most_function.has_value(), line.most_ns);
    one["host"] = text(line.host);
    return one;
  }
  one["longest_ns"] = timed(line.longest_ns);
  const auto percentile = [&](const char *name, timing::Percentile timing::Percentiles::*member) {
    one[name] = line.percentiles ? py::object(py::int_(((*line.percentiles).*member).ns)) : py::none();
  };
  percentile("median_ns", &timing::Percentiles::median);
  percentile("p95_ns", &timing::Percentiles::p95);
  percentile("p99_ns", &timing::Percentiles::p99);
  one["ranks"] = line.ranks;
  one["imbalance"] = maybe(line.imbalance);
  one["least"] = of_rank(line.least);
  one["most"] = of_rank(line.most);
  return one;
}

py::dict summary(Run &run, const py::dict &words, const std::string &by) {
  const analyze::Filter filter = run.filter(words);
  const analyze::GroupBy group = by == "rank"   ? analyze::GroupBy::rank
                                 : by == "site" ? analyze::GroupBy::call_site
                                                : analyze::GroupBy::function;
  const analyze::Summary found =
      taken(unlocked([&] { return analyze::summarise(run.trace(), run.sources(), filter, group); }), run.path());
  py::list lines;
  for (const analyze::SummaryLine &line : found.lines) {
    if (filter.limit && lines.size() >= *filter.limit) break;
    lines.append(line_of(found, line));
  }
  py::dict all;
  all["calls"] = found.calls;
  all["failed_calls"] = analyze::failed_calls(found.failures);
  all["run_ns"] = found.run_ns;
  all["outside_ns"] = found.outside_ns;
  all["mpi_ns"] = found.mpi_ns;
  all["init_finalize_ns"] = maybe(found.apart_ns);
  all["times_within"] = found.within;
  all["mpi_imbalance"] = found.mpi_imbalance;
  all["outside_imbalance"] = found.outside_imbalance;
  all["slowest_rank"] = found.slowest_rank;
  all["lines"] = lines;
  if (found.damaged.first) raise(*found.damaged.first, run.path());
  return all;
}

py::dict loop_of(const analyze::Loop &loop, const analyze::KindOfRank &kind) {
  const analyze::LoopItem &item = *loop.item;
  const double turns = static_cast<double>(item.turns) * static_cast<double>(kind.ranks.size());
  py::dict one;
  if (loop.is_call()) one["function"] = text(analyze::function_name(kind.places[item.symbol].function));
  one["place"] = text(analyze::text_of(loop, kind.places));
  one["times"] = item.times;
  one["turns"] = item.turns;
  one["least_turns"] = item.least;
  one["most_turns"] = item.most;
  one["calls_a_turn"] = loop.calls / turns;
  one["bytes_a_turn"] = loop.bytes / turns;
  one["bytes_known"] = loop.unsized_calls == 0;
  one["ns_a_turn"] = loop.time_ns ? py::object(py::float_(*loop.time_ns / turns)) : py::none();
  one["is_time_step"] = loop.is_step;
  py::list body;
  for (const analyze::Loop &inner : loop.body) body.append(loop_of(inner, kind));
  one["body"] = body;
  return one;
}

py::list loops(Run &run, const py::dict &words) {
  const analyze::Filter filter = run.filter(words);
  std::optional<Error> error;
  const auto kinds = unlocked([&] {
    const analyze::LoopFinder finder(run.trace(), run.sources());
    std::vector<analyze::KindOfRank> found = finder.kinds(filter);
    for (analyze::KindOfRank &kind : found) {
      if (auto done = finder.find(&kind); !done && !error) error = done.error();
    }
    return found;
  });
  if (error) raise(*error, run.path());
  py::list all;
  for (const analyze::KindOfRank &kind : kinds) {
    py::dict one;
    one["ranks"] = numbers(kind.ranks);
    one["thread"] = kind.thread;
    one["calls"] = kind.all.calls / static_cast<double>(kind.ranks.size());
    py::list items;
    for (const analyze::Loop &loop : kind.all.body) items.append(loop_of(loop, kind));
    one["items"] = items;
    all.append(one);
  }
  return all;
}

py::dict place_of(const waits::Report &report, uint32_t place) {
  py::dict one;
  one["function"] = text(analyze::function_name(report.places[place].function));
  one["site"] = position(report.places[place].position);
  return one;
}

py::dict activity_of(const waits::Report &report, waits::Activity activity) {
  py::dict one;
  one["doing"] = "unknown";
  one["place"] = py::none();
  if (activity == waits::kUnknownActivity) return one;
  one["doing"] = waits::word_of(waits::doing(activity));
  one["place"] = place_of(report, waits::place_of(activity));
  return one;
}

py::dict efficiency_of(const waits::Efficiency &found) {
  py::dict all;
  const bool ideal = found.ideal_ns != 0;
  all["run_ns"] = found.run_ns;
  all["ideal_ns"] = if_known(ideal, found.ideal_ns);
  all["mean_outside_ns"] = found.mean_outside_ns;
  all["most_outside_ns"] = found.most_outside_ns;
  all["most_outside_rank"] = found.most_outside_rank;
  all["parallel"] = found.parallel();
  all["load_balance"] = found.load_balance();
  all["communication"] = found.communication();
  all["serialisation"] = if_known(ideal, found.serialisation());
  all["transfer"] = if_known(ideal, found.transfer());
  return all;
}

waits::Report analysed(Run &run, const char *asker, const py::dict &words) {
  if (const auto can = waits::can_analyse(run.trace(), asker); !can) raise(can.error(), run.path());
  const analyze::Filter filter = run.filter(words);
  return taken(unlocked([&] { return waits::analyse(run.trace(), run.sources(), filter); }), run.path());
}

py::dict waits_of(Run &run, const py::dict &words) {
  const waits::Report found = analysed(run, "waits", words);
  py::list lines;
  for (const waits::WaitLine &line : found.lines) {
    const bool other = waits::has_culprit(line.pattern);
    py::dict one;
    one["kind"] = waits::name_of(line.pattern);
    one["time_ns"] = line.ns;
    one["count"] = line.count;
    one["longest_ns"] = line.longest.ns;
    one["longest_rank"] = line.longest.rank;
    one["longest_call"] = line.longest.call;
    one["longest_for_rank"] = if_known(other, line.longest.culprit);
    one["in"] = place_of(found, line.victim);
    one["for"] = other ? py::object(place_of(found, line.culprit)) : py::none();
    lines.append(one);
  }
  // Whose doing it was, or what the path was in: in all, and on the rank that did most.
  const auto of_activity = [&](const auto &line, const char *name, auto more) {
    py::dict one;
    one["activity"] = activity_of(found, line.activity);
    one["time_ns"] = line.ns;
    one[name] = more;
    one["rank"] = line.rank;
    one["rank_ns"] = line.rank_ns;
    return one;
  };
  py::list causes;
  for (const waits::CauseLine &line : found.causes) causes.append(of_activity(line, "ranks", line.ranks));
  py::list path;
  for (const waits::PathLine &line : found.path) path.append(of_activity(line, "mean_ns", line.mean_ns));
  py::list ranks;
  uint64_t run_ns = 0;
  for (const waits::RankLine &line : found.ranks) {
    py::dict one;
    one["rank"] = line.rank;
    one["run_ns"] = line.run_ns;
    one["outside_ns"] = line.outside_ns;
    one["waited_ns"] = line.all_waited_ns();
    one["blamed_ns"] = line.blamed_ns;
    one["path_ns"] = line.path_ns;
    ranks.append(one);
    run_ns += line.run_ns;
  }
  py::dict all;
  all["run_ns"] = run_ns;
  all["waited_ns"] = found.all_waited_ns();
  all["left_out"] = found.counts.left_out();
  all["reversed"] = found.reversed;
  all["lines"] = lines;
  all["causes"] = causes;
  all["path"] = path;
  all["ranks"] = ranks;
  all["efficiency"] = efficiency_of(found.efficiency);
  return all;
}

py::dict efficiency(Run &run) {
  if (timing::keeps_times(run.trace().run().timing)) return efficiency_of(analysed(run, "efficiency", {}).efficiency);
  return efficiency_of(
      taken(unlocked([&] { return waits::efficiency_of_sums(run.trace(), "efficiency"); }), run.path()));
}

/// Time by line of ranks, column and what they did.
py::dict timeline_of(Run &run, const py::dict &words, size_t columns, size_t lines) {
  words["made_axis"] = true;
  const analyze::Filter filter = run.filter(words);
  timeline::Wanted wanted;
  wanted.ranks = filter.ranks;
  wanted.columns = columns;
  wanted.lines = lines;
  if (filter.window) {
    wanted.begin_ns = filter.window->begin_ns;
    wanted.end_ns = filter.window->end_ns;
  }
  timeline::Strip strip = taken(unlocked([&] { return timeline::strip_of(run.trace(), wanted); }), run.path());
  py::list ranks;
  for (const std::vector<uint32_t> &of_line : strip.ranks) ranks.append(numbers(of_line));
  py::list doings;
  for (size_t i = 0; i < timeline::kDoings; ++i) doings.append(timeline::name_of(static_cast<timeline::Doing>(i)));
  py::dict all;
  all["begin_ns"] = strip.edges.begin_ns;
  all["end_ns"] = strip.edges.end_ns;
  all["axis"] = timeline::name_of(strip.axis);
  all["ranks"] = ranks;
  all["doings"] = doings;
  all["times"] = column(std::move(strip.ns)).attr("reshape")(strip.lines(), strip.edges.columns, strip.kinds);
  return all;
}

}  // namespace

void declare_tables(py::module_ &module) {
  module.def("summary", &summary);
  module.def("loops", &loops);
  module.def("waits", &waits_of);
  module.def("efficiency", &efficiency);
  module.def("timeline", &timeline_of);
}

}  // namespace cairn::python
