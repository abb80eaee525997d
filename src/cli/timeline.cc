// cairn timeline: what ranks did when, a line of letters for each.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>

#include "cli/inspect.h"
#include "cli/reading.h"
#include "cli/timeline_gpu.h"
#include "cli/verbs.h"
#include "gpu/analyze/points.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/rank_list.h"
#include "text/utf8.h"
#include "timeline/doing.h"
#include "timeline/strip.h"

namespace cairn::cli {
namespace {

using nlohmann::ordered_json;
using timeline::AxisKind;
using timeline::Kinds;
using timeline::Strip;

constexpr size_t kNarrow = 80;
/// By sort each has its own; else those that take most have letters of the alphabet, the others the last.
constexpr char kOfSorts[timeline::kDoings + 1] = ".mwcofi-";
constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr char kOutside = '.';
constexpr char kOthers = '-';

struct TimelineOptions : Inspection {
  std::optional<uint64_t> columns;
  std::optional<uint64_t> lines;
  std::string by;
  bool classes = false;
};

std::vector<uint64_t> sums_of(const Strip &strip) {
  std::vector<uint64_t> sums(strip.kinds);
  for (size_t cell = 0; cell < strip.ns.size(); ++cell) sums[cell % strip.kinds] += strip.ns[cell];
  return sums;
}

/// A letter for each kind.
std::string letters_of(const Strip &strip, timeline::By by) {
  if (by == timeline::By::sort) return kOfSorts;
  const std::vector<uint64_t> sums = sums_of(strip);
  std::vector<size_t> order(strip.kinds - 1);
  std::iota(order.begin(), order.end(), 1);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return sums[a] > sums[b]; });
  std::string letters(strip.kinds, kOthers);
  letters[0] = kOutside;
  for (size_t i = 0; i < order.size() && i < kAlphabet.size(); ++i) letters[order[i]] = kAlphabet[i];
  return letters;
}

/// The ranks of a line, as far as there is room.
constexpr size_t kMostHead = 20;
std::string head_of(const std::vector<uint32_t> &ranks) {
  std::string text = ranks_text(ranks);
  if (text.size() <= kMostHead) return text;
  const std::string more = fmt::format(",+ ({})", ranks.size());
  return text.substr(0, text.rfind(',', kMostHead - more.size())) + more;
}

/// A place or a length on the axis.
std::string on_axis(const Strip &strip, uint64_t ns) {
  return strip.axis == AxisKind::calls ? grouped(ns / timeline::kCallNs) : time_text(ns);
}

/// What the letters mean: on one line the sorts that there are, else each that stands somewhere.
std::string legend_of(const Strip &strip, const Kinds &kinds, timeline::By by, const std::string &letters,
                      const std::vector<bool> &shown) {
  const std::vector<uint64_t> sums = sums_of(strip);
  std::string text;
  if (by == timeline::By::sort) {
    for (size_t kind = 0; kind < strip.kinds; ++kind) {
      if (sums[kind] != 0) text += fmt::format("{} {}   ", letters[kind], kinds.names[kind]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  }
  std::vector<size_t> order(strip.kinds);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return sums[a] > sums[b]; });
  const double all = static_cast<double>(std::accumulate(sums.begin(), sums.end(), uint64_t{0}));
  double others = 0;
  for (const size_t kind : order) {
    if (letters[kind] == kOthers) others += static_cast<double>(sums[kind]);
    if (letters[kind] == kOthers || !shown[kind]) continue;
    text += fmt::format("{} {:5.1f} %  {}\n", letters[kind], 100 * static_cast<double>(sums[kind]) / all,
                        kinds.names[kind]);
  }
  if (others != 0) text += fmt::format("{} {:5.1f} %  others\n", kOthers, 100 * others / all);
  return text;
}

/// Heads are `width` wide, of which they need no more.
std::string text_of(const Strip &strip, const Kinds &kinds, timeline::By by, size_t width) {
  std::vector<std::string> heads;
  for (const std::vector<uint32_t> &ranks : strip.ranks) {
    heads.push_back(head_of(ranks));
  }
  const size_t columns = strip.edges.columns;
  // Marks on the axis, as many as have room.
  constexpr size_t kBetween = 20;
  std::string marks;
  // Of a short window far from the begin, how far each is from the first: as moments they would look alike.
  constexpr uint64_t kFar = 20;
  const uint64_t begin_ns = strip.edges.begin_ns;
  const bool far = begin_ns / kFar > strip.edges.end_ns - begin_ns;
  for (size_t at = 0; at < columns; at += kBetween) {
    marks.resize(at, ' ');
    const uint64_t ns = strip.edges.at(at);
    marks += "|" + (far && at != 0 ? "+" + on_axis(strip, ns - begin_ns) : on_axis(strip, ns));
  }
  std::string text = fmt::format("{:>{}}  {}\n", "rank", width, marks);
  const std::string letters = letters_of(strip, by);
  std::vector<bool> shown(strip.kinds);
  for (size_t line = 0; line < strip.lines(); ++line) {
    std::string drawn;
    for (size_t at = 0; at < columns; ++at) {
      // What most of the column is; a space where there is nothing.
      const std::span<const uint64_t> column = strip.at(line, at);
      const auto most = static_cast<size_t>(std::max_element(column.begin(), column.end()) - column.begin());
      if (column[most] != 0) shown[most] = true;
      drawn += column[most] == 0 ? ' ' : letters[most];
    }
    text += fmt::format("{:>{}}  {}\n", heads[line], width, drawn);
  }
  return text + "\n" + legend_of(strip, kinds, by, letters, shown);
}

ordered_json json_of(const std::string &file, const Strip &strip, const Kinds &kinds, const std::string &by) {
  ordered_json json;
  json["schema"] = "cairn.timeline/1";
  json["file"] = valid_utf8(file);
  json["axis"] = timeline::name_of(strip.axis);
  json["by"] = by;
  json["begin_ns"] = strip.edges.begin_ns;
  json["end_ns"] = strip.edges.end_ns;
  json["edges_ns"] = ordered_json::array();
  const size_t columns = strip.edges.columns;
  for (size_t column = 0; column <= columns; ++column) json["edges_ns"].push_back(strip.edges.at(column));
  json["lines"] = ordered_json::array();
  for (size_t line = 0; line < strip.lines(); ++line) {
    ordered_json one;
    one["ranks"] = strip.ranks[line];
    one["ns"] = ordered_json::object();
    for (size_t kind = 0; kind < strip.kinds; ++kind) {
      ordered_json values = ordered_json::array();
      bool any = false;
      for (size_t column = 0; column < columns; ++column) {
        const uint64_t ns = strip.at(line, column)[kind];
        values.push_back(ns);
        any = any || ns != 0;
      }
      if (any) one["ns"][valid_utf8(kinds.names[kind])] = std::move(values);
    }
    json["lines"].push_back(std::move(one));
  }
  return json;
}

/// A line for each sort of time of each line and column in which there is some.
void print_csv(Output &out, const Strip &strip, const Kinds &kinds) {
  out.keep_lines();
  out.write("ranks,begin_ns,end_ns,kind,ns\n");
  for (size_t line = 0; line < strip.lines(); ++line) {
    const std::string ranks = csv_quoted(ranks_text(strip.ranks[line]));
    for (size_t column = 0; column < strip.edges.columns; ++column) {
      for (size_t kind = 0; kind < strip.kinds; ++kind) {
        const uint64_t ns = strip.at(line, column)[kind];
        if (ns == 0) continue;
        out.write(fmt::format("{},{},{},{},{}\n", ranks, strip.edges.at(column), strip.edges.at(column + 1),
                              csv_quoted(kinds.names[kind]), ns));
      }
    }
  }
}

/// What streams of GPUs did in the strip's columns; none where that has no axis of time, or it is not known.
std::vector<analyze::StreamRow> streams_of(const trace::Trace &trace, const gpu::Launches &launches,
                                           const std::vector<uint32_t> &ranks, const Strip &strip) {
  if (strip.axis == AxisKind::calls || strip.edges.columns == 0) return {};
  std::vector<uint64_t> edges;
  for (size_t column = 0; column <= strip.edges.columns; ++column) edges.push_back(strip.edges.at(column));
  return analyze::stream_rows(analyze::launches_in_order(trace, launches), launches, ranks, edges);
}

/// Which part of the axis is shown, and what it is.
std::string window_text(const Strip &strip) {
  const uint64_t length = strip.edges.end_ns - strip.edges.begin_ns;
  const std::string begin = on_axis(strip, strip.edges.begin_ns);
  if (strip.axis == AxisKind::calls) {
    return fmt::format("{} from {} on, {:.3g} a column, since this trace has no times\n\n",
                       plural(length / timeline::kCallNs, "call"), begin,
                       static_cast<double>(length) / static_cast<double>(timeline::kCallNs * strip.edges.columns));
  }
  return fmt::format("{} from {} on, {} a column{}\n\n", time_text(length), begin,
                     time_text(length / strip.edges.columns),
                     strip.axis == AxisKind::estimated ? ", estimated: this trace has means of times only" : "");
}

int timeline_of(TimelineOptions &options) {
  const auto trace = open_trace(options, Open::wanted_ranks);
  if (!trace) return report(trace.error());
  const analyze::Sources sources(
      *trace, options.by == "site" ? analyze::Sources::Look::in_modules_too : analyze::Sources::Look::in_trace_only);
  options.filter.made_axis = true;
  const auto filter = analyze::make_filter(options.filter, *trace, sources);
  if (!filter) return report(filter.error());
  if (filter->ranks.empty()) {
    return report(
        Error{ErrorKind::usage, "timeline: this trace has no ranks", options.file, Error::kNoOffset, "see cairn info"});
  }
  if (options.by == "site") {
    for (const std::string &warning : sources.warnings()) say(warning);
  }
  say_missing_calls(*trace, filter->ranks);
  const auto launches = analyze::gpu_launches(*trace);
  if (!launches) return report(launches.error(), options.file);
  Output out;
  timeline::Wanted wanted;
  wanted.ranks = filter->ranks;
  if (filter->window) {
    wanted.begin_ns = filter->window->begin_ns;
    wanted.end_ns = filter->window->end_ns;
  }
  if (options.classes) wanted.fold = timeline::Fold::classes;
  constexpr uint64_t kMostLines = 40;
  constexpr uint64_t kMostColumns = 100000;
  wanted.lines = std::max<uint64_t>(1, options.lines.value_or(options.json || options.csv ? UINT64_MAX : kMostLines));
  // What stands before the letters: the ranks of a line.
  const size_t most_ranks = ranks_text({filter->ranks.back()}).size();
  const bool several = wanted.ranks.size() > wanted.lines;
  const size_t before = 2 + std::max<size_t>(widest_name(*launches, filter->ranks), options.classes ? kMostHead
                                                                                    : several       ? 2 * most_ranks + 1
                                                                                                    : most_ranks);
  const size_t width = out.width() == SIZE_MAX ? kNarrow : out.width();
  const size_t room = width > before + 10 ? width - before : 10;
  wanted.columns = std::clamp<uint64_t>(options.columns.value_or(room), 1, kMostColumns);
  const timeline::By by = options.by == "site"       ? timeline::By::site
                          : options.by == "function" ? timeline::By::function
                                                     : timeline::By::sort;
  const Kinds kinds = timeline::kinds_of(*trace, sources, by);
  Reading reading(*trace, filter->ranks);
  const auto strip = timeline::Timeline(*trace, kinds).strip(wanted);
  reading.end();
  if (!strip) return report(strip.error(), options.file);
  const auto streams = streams_of(*trace, *launches, filter->ranks, *strip);
  if (strip->axis != AxisKind::calls) say_exactness(*trace, Shown::begins_too);
  if (options.json) {
    ordered_json json = json_of(options.file, *strip, kinds, options.by);
    add_missing_calls(*trace, filter->ranks, &json);
    if (!streams.empty()) json["gpu"] = stream_json(streams);
    out.write(json.dump() + "\n");
    return out.finish();
  }
  if (options.csv) {
    print_csv(out, *strip, kinds);
    return out.finish();
  }
  out.write(fmt::format("{}{}{}: {}\n", out.bold(), options.file, out.plain(), trace->run().command));
  size_t head = 4;
  for (const std::vector<uint32_t> &ranks : strip->ranks) head = std::max(head, head_of(ranks).size());
  for (const analyze::StreamRow &row : streams) head = std::max(head, row.name().size());
  out.write(window_text(*strip) + text_of(*strip, kinds, by, head));
  out.write(stream_text(streams, head, wanted.lines, by != timeline::By::sort));
  return out.finish();
}

}  // namespace

Action declare_timeline(Options &verb) {
  auto options = std::make_shared<TimelineOptions>();
  add_file(verb, *options);
  verb.text("--rank", options->filter.ranks, "Only these ranks, as in 0-7,12", "LIST");
  verb.text("--time", options->filter.time, "Only START+LENGTH, as in 1s+20ms", "START+LENGTH");
  verb.number("--columns", options->columns, "In so many columns (default: as many as the terminal has)", "N");
  verb.number("--lines", options->lines, "At most N lines: more ranks are taken together (default: 40)", "N");
  options->by = "sort";
  verb.choice("--by", options->by, {"sort", "function", "site"}, "What letters tell apart (default: sort)", "WHAT");
  verb.flag("--classes", options->classes, "A line for all ranks of the same classes");
  add_csv_and_json(verb, *options, "a line for each column and what it is made of");
  return [options] { return timeline_of(*options); };
}

}  // namespace cairn::cli
