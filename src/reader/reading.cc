#include "reader/reading.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>

#include "analyze/overview.h"
#include "analyze/summary.h"
#include "analyze/volume.h"
#include "base/saturating.h"
#include "tell/collectives_list.h"
#include "tell/loops_json.h"
#include "tell/sizes_list.h"
#include "tell/summary_list.h"
#include "terminal/words.h"
#include "text/rank_list.h"
#include "text/utf8.h"
#include "timeline/doing.h"
#include "timing/mode.h"
#include "trace/read/exactness.h"
#include "traffic/matrix.h"
#include "traffic/message_sizes.h"

namespace cairn::reader {

using nlohmann::ordered_json;

Reading::Reading(trace::Trace opened)
    : trace(std::move(opened)),
      sources(analyze::Sources::in_trace(trace)),
      decoder(trace, sources),
      moving(trace, analyze::Volumes::needs),
      groups(trace, sources) {}

namespace {

ordered_json texts_json(const std::vector<std::string> &texts) {
  ordered_json list = ordered_json::array();
  for (const std::string &each : texts) list.push_back(valid_utf8(each));
  return list;
}

ordered_json degraded_json(const analyze::Overview &view) {
  ordered_json list = ordered_json::array();
  for (const auto &[reason, of] : view.degraded) {
    list.push_back({{"reason", valid_utf8(reason)},
                    {"ranks", ranks_text(of.ranks)},
                    {"count", of.count},
                    {"calls_missing", of.missing},
                    {"asked_for", of.asked}});
  }
  return list;
}

ordered_json failures_json(const analyze::Overview &view) {
  ordered_json list = ordered_json::array();
  for (const auto &[function, failures] : view.failures) {
    list.push_back({{"function", analyze::function_name(function)}, {"results", failures}});
  }
  return list;
}

const char *times_kept(const trace::Trace &trace) {
  const std::string &timing = trace.run().timing;
  if (timing::keeps_times(timing)) return "calls";
  const timing::Mode *mode = timing::mode_named(timing);
  return mode != nullptr && mode->statistics ? "statistics" : "none";
}

bool keeps_gaps(const trace::Trace &trace) {
  const timing::Mode *mode = timing::mode_named(trace.run().timing);
  return mode != nullptr && (mode->gaps || timing::keeps_times(trace.run().timing));
}

/// Runs of ranks at equal distances: first, last, step.
void add_runs(const std::vector<uint32_t> &ranks, std::vector<uint32_t> *runs) {
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    const uint32_t step = i + 1 < ranks.size() ? ranks[i + 1] - ranks[i] : 1;
    while (last + 1 < ranks.size() && ranks[last + 1] - ranks[last] == step) ++last;
    // Two that are apart are no run: the second may begin one.
    if (last == i + 1 && step != 1) last = i;
    runs->insert(runs->end(), {ranks[i], ranks[last], last == i ? 1 : step});
    i = last + 1;
  }
}

}  // namespace

ordered_json run_json(const Reading &reading, bool everything) {
  const trace::Trace &trace = reading.trace;
  const analyze::Overview view = everything ? analyze::overview(trace) : analyze::outline(trace);
  const std::vector<uint32_t> ranks = trace.ranks();
  ordered_json out;
  out["command"] = valid_utf8(view.run.command);
  out["mpi"] = valid_utf8(view.run.mpi);
  out["recorder"] = valid_utf8(view.run.recorder);
  out["status"] = valid_utf8(view.run.status);
  out["begin"] = cli::utc_text(view.run.start_unix_ns);
  out["begin_unix_ns"] = std::to_string(view.run.start_unix_ns);
  out["wall_ns"] = view.run.wall_ns;
  out["world_size"] = view.world;
  out["ranks"] = ranks_text(ranks);
  out["rank_count"] = view.ranks;
  out["classes"] = view.classes;
  out["threads"] = view.threads;
  out["calls"] = view.calls;
  out["distinct_calls"] = view.signatures;
  out["functions"] = view.functions;
  if (everything) out["communicators"] = view.communicators;
  out["timing"] = valid_utf8(view.run.timing);
  out["times"] = times_kept(trace);
  out["gaps"] = keeps_gaps(trace);
  const std::string within = trace::exactness(trace);
  out["exactness"] = within.empty() ? "exact" : valid_utf8(within);
  bool stacks = false;
  for (const trace::Site &site : trace.all_sites()) stacks = stacks || site.caller != 0;
  out["stacks"] = stacks;
  out["hosts"] = texts_json(view.hosts);
  out["incomplete"] = ranks_text(view.incomplete);
  out["degraded"] = degraded_json(view);
  if (everything) out["failures"] = failures_json(view);
  out["bytes"] = view.bytes;
  return out;
}

Result<Block> classes_block(const Reading &reading) {
  const trace::Trace &trace = reading.trace;
  Exactly exactly;
  std::vector<uint32_t> threads;
  std::vector<uint32_t> segments;
  std::vector<uint32_t> members;
  std::vector<uint32_t> ends;
  std::vector<uint32_t> runs;
  std::vector<double> each;
  std::vector<double> all;
  const auto sum = [&](const std::vector<uint64_t> &counts) {
    uint64_t calls = 0;
    for (const uint64_t count : counts) add_to(&calls, count);
    return exactly(calls);
  };
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    const trace::ClassView view = trace.class_view(index);
    threads.push_back(view.thread);
    segments.push_back(view.segment);
    members.push_back(static_cast<uint32_t>(view.ranks.size()));
    add_runs(view.ranks, &runs);
    ends.push_back(static_cast<uint32_t>(runs.size() / 3));
    each.push_back(view.ranks.empty() ? 0
                                      : sum(trace.row_counts({view.ranks[0], view.thread, view.segment, index, 0})));
    all.push_back(sum(trace.row_counts(index)));
  }
  if (const Result<void> done = exactly.done(); !done) return tl::unexpected(done.error());
  Block block;
  block.numbers(threads);
  block.numbers(segments);
  block.numbers(members);
  block.numbers(ends);
  block.numbers(runs);
  block.numbers(each);
  block.numbers(all);
  return block;
}

Result<Block> groups_block(const Reading &reading) {
  Exactly exactly;
  std::vector<std::string> functions;
  std::vector<std::string> sites;
  std::vector<std::string> files;
  std::vector<std::string> within;
  std::vector<std::string> callers;
  std::vector<uint32_t> lines;
  std::vector<uint32_t> depths;
  std::vector<uint32_t> sorts;
  std::vector<double> calls;
  for (const Group &group : reading.groups.all()) {
    functions.push_back(analyze::function_name(group.function));
    sites.push_back(valid_utf8(group.position.short_text()));
    files.push_back(valid_utf8(group.position.file));
    within.push_back(valid_utf8(group.position.function_text()));
    std::string stack;
    for (const analyze::Position &caller : group.callers) stack += caller.short_text() + '\n';
    callers.push_back(valid_utf8(stack));
    lines.push_back(group.position.line);
    depths.push_back(group.depth);
    sorts.push_back(static_cast<uint32_t>(timeline::doing_of(group.function)));
    calls.push_back(exactly(group.calls));
  }
  if (const Result<void> done = exactly.done(); !done) return tl::unexpected(done.error());
  Block block;
  block.texts(functions);
  block.texts(sites);
  block.texts(files);
  block.texts(within);
  block.texts(callers);
  block.numbers(lines);
  block.numbers(depths);
  block.numbers(sorts);
  block.numbers(calls);
  return block;
}

Result<Block> durations_block(Reading *reading) {
  if (!reading->durations) {
    Result<std::vector<GroupDurations>> found = durations_of(reading->trace, reading->groups);
    if (!found) return tl::unexpected(found.error());
    reading->durations = *std::move(found);
  }
  constexpr double kUntimed = -1;
  Exactly exactly;
  std::vector<double> calls, total, least, greatest, median, p95, p99, error;
  const size_t count = reading->groups.all().size();
  for (size_t i = 0; i < count; ++i) {
    const bool known = i < reading->durations->size() && (*reading->durations)[i].calls != 0;
    const GroupDurations of = known ? (*reading->durations)[i] : GroupDurations{};
    const auto number = [&](uint64_t value) { return known ? exactly(value) : kUntimed; };
    calls.push_back(exactly(of.calls));
    total.push_back(number(of.total_ns));
    least.push_back(number(of.least_ns));
    greatest.push_back(number(of.greatest_ns));
    median.push_back(of.percentiles ? exactly(of.percentiles->median.ns) : kUntimed);
    p95.push_back(of.percentiles ? exactly(of.percentiles->p95.ns) : kUntimed);
    p99.push_back(of.percentiles ? exactly(of.percentiles->p99.ns) : kUntimed);
    error.push_back(of.percentiles
                        ? std::max({of.percentiles->median.error, of.percentiles->p95.error, of.percentiles->p99.error})
                        : 0);
  }
  if (const Result<void> done = exactly.done(); !done) return tl::unexpected(done.error());
  Block block;
  for (const auto *column : {&calls, &total, &least, &greatest, &median, &p95, &p99, &error}) block.numbers(*column);
  return block;
}

namespace {

analyze::Filter everything(const trace::Trace &trace) {
  analyze::Filter filter;
  filter.ranks = trace.ranks();
  return filter;
}

}  // namespace

Block text_block(const ordered_json &json) {
  Block block;
  block.text(json.dump());
  return block;
}

Result<Block> matrix_block(const Reading &reading, const std::vector<bool> &groups, bool by_communicator) {
  std::function<bool(const traffic::Called &)> taken;
  if (!groups.empty()) {
    taken = [&](const traffic::Called &called) {
      return groups[reading.groups.of(called.class_index, called.class_row)];
    };
  }
  const auto by = by_communicator ? traffic::By::communicator : traffic::By::nothing;
  const auto matrix = traffic::matrix_of(reading.trace, reading.sources, everything(reading.trace), by, false, taken);
  if (!matrix) return tl::unexpected(matrix.error());
  Exactly exactly;
  size_t cells = 0;
  ordered_json names = ordered_json::array();
  for (const traffic::Group &group : matrix->groups) {
    cells += group.cells.size();
    names.push_back(valid_utf8(group.name));
  }
  ordered_json rest;
  rest["ranks"] = matrix->ranks;
  rest["communicators"] = std::move(names);
  rest["collectives"] = cli::collectives_list(*matrix).json();
  rest["unknown_processes"] = matrix->seen.nowhere;
  rest["expanded_ranks"] = matrix->seen.expanded_ranks;
  Block block;
  // A run of 100,000 ranks has some million cells: one column after the other, each once.
  block.reserve(cells * (4 * sizeof(uint32_t) + 3 * sizeof(double)));
  const auto column = [&](auto of) {
    std::vector<decltype(of(0U, traffic::Cell()))> numbers;
    numbers.reserve(cells);
    uint32_t number = 0;
    for (const traffic::Group &group : matrix->groups) {
      for (const traffic::Cell &cell : group.cells) numbers.push_back(of(number, cell));
      ++number;
    }
    block.numbers(numbers);
  };
  column([](uint32_t, const traffic::Cell &cell) { return cell.from; });
  column([](uint32_t, const traffic::Cell &cell) { return cell.to; });
  column([](uint32_t, const traffic::Cell &cell) { return static_cast<uint32_t>(cell.kind); });
  column([&](uint32_t, const traffic::Cell &cell) { return exactly(cell.amount.messages); });
  column([&](uint32_t, const traffic::Cell &cell) { return exactly(cell.amount.bytes); });
  column([&](uint32_t, const traffic::Cell &cell) { return exactly(cell.amount.unsized); });
  column([](uint32_t group, const traffic::Cell &) { return group; });
  if (const Result<void> done = exactly.done(); !done) return tl::unexpected(done.error());
  block.text(rest.dump());
  return block;
}

Result<Block> summary_block(const Reading &reading, uint32_t by) {
  constexpr analyze::GroupBy kBy[] = {analyze::GroupBy::function, analyze::GroupBy::call_site, analyze::GroupBy::rank};
  if (by >= std::size(kBy)) return fail(ErrorKind::usage, "there is no such summary");
  const auto summary = analyze::summarise(reading.trace, reading.sources, everything(reading.trace), kBy[by]);
  if (!summary) return tl::unexpected(summary.error());
  return text_block(cli::summary_json("", *summary, cli::summary_list(*summary, UINT64_MAX)));
}

Result<Block> sizes_block(const Reading &reading, uint32_t by, bool exact) {
  constexpr traffic::SizesBy kBy[] = {traffic::SizesBy::operation, traffic::SizesBy::communicator,
                                      traffic::SizesBy::site};
  constexpr const char *kWords[] = {"op", "comm", "site"};
  if (by >= std::size(kBy)) return fail(ErrorKind::usage, "there are no such sizes");
  const auto sizes =
      traffic::sizes_of(reading.trace, reading.sources, everything(reading.trace), kBy[by], exact, false);
  if (!sizes) return tl::unexpected(sizes.error());
  return text_block(cli::sizes_json("", kWords[by], exact, reading.trace, *sizes));
}

Result<Block> loops_block(const Reading &reading) {
  const analyze::LoopFinder finder(reading.trace, reading.sources);
  std::vector<analyze::KindOfRank> kinds = finder.kinds(everything(reading.trace));
  for (analyze::KindOfRank &kind : kinds) {
    if (const auto done = finder.find(&kind); !done) return tl::unexpected(done.error());
  }
  return text_block(cli::loops_json("", reading.trace, kinds));
}

}  // namespace cairn::reader
