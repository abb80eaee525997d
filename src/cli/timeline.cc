// cairn timeline: what ranks did when, a line of letters for each.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "cli/inspect.h"
#include "cli/verbs.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"
#include "timeline/doing.h"
#include "timeline/strip.h"
#include "timing/setting.h"

namespace cairn::cli {
namespace {

using nlohmann::ordered_json;
using timeline::Strip;

constexpr char kLetters[timeline::kDoings + 1] = ".mwcofi-";
constexpr size_t kNarrow = 80;

struct TimelineOptions : Inspection {
  std::optional<uint64_t> columns;
  std::optional<uint64_t> lines;
};

/// What most of a column is; a space where there is nothing.
char letter_of(std::span<const uint64_t> column) {
  const auto most = std::max_element(column.begin(), column.end());
  return *most == 0 ? ' ' : kLetters[most - column.begin()];
}

std::string text_of(const Strip &strip) {
  std::vector<std::string> heads;
  size_t width = 4;
  for (const std::vector<uint32_t> &ranks : strip.ranks) {
    heads.push_back(analyze::ranks_text(ranks));
    width = std::max(width, heads.back().size());
  }
  const size_t columns = strip.edges.columns;
  // Marks on the axis, as many as have room.
  constexpr size_t kBetween = 20;
  std::string marks;
  for (size_t at = 0; at < columns; at += kBetween) {
    marks.resize(at, ' ');
    marks += "|" + time_text(strip.edges.at(at));
  }
  std::string text = fmt::format("{:>{}}  {}\n", "rank", width, marks);
  std::array<bool, timeline::kDoings> used{};
  for (size_t i = 0; i < strip.lines(); ++i) {
    std::string letters;
    for (size_t at = 0; at < columns; ++at) {
      const std::span<const uint64_t> column = strip.at(i, at);
      letters += letter_of(column);
      for (size_t doing = 0; doing < used.size(); ++doing) used[doing] = used[doing] || column[doing] != 0;
    }
    text += fmt::format("{:>{}}  {}\n", heads[i], width, letters);
  }
  text += "\n";
  for (size_t doing = 0; doing < used.size(); ++doing) {
    if (used[doing])
      text += fmt::format("{} {}   ", kLetters[doing], timeline::name_of(static_cast<timeline::Doing>(doing)));
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

ordered_json json_of(const std::string &file, const Strip &strip) {
  ordered_json json;
  json["schema"] = "cairn.timeline/1";
  json["file"] = valid_utf8(file);
  json["begin_ns"] = strip.edges.begin_ns;
  json["end_ns"] = strip.edges.end_ns;
  json["edges_ns"] = ordered_json::array();
  const size_t columns = strip.edges.columns;
  for (size_t column = 0; column <= columns; ++column) json["edges_ns"].push_back(strip.edges.at(column));
  json["lines"] = ordered_json::array();
  for (size_t line = 0; line < strip.lines(); ++line) {
    ordered_json one;
    one["ranks"] = strip.ranks[line];
    for (size_t doing = 0; doing < timeline::kDoings; ++doing) {
      ordered_json values = ordered_json::array();
      bool any = false;
      for (size_t column = 0; column < columns; ++column) {
        values.push_back(strip.at(line, column)[doing]);
        any = any || strip.at(line, column)[doing] != 0;
      }
      if (any) one["ns"][timeline::name_of(static_cast<timeline::Doing>(doing))] = std::move(values);
    }
    json["lines"].push_back(std::move(one));
  }
  return json;
}

int timeline_of(TimelineOptions &options) {
  const auto trace = open_trace(options, Open::wanted_ranks);
  if (!trace) return report(trace.error());
  if (!timing::keeps_times(trace->run().timing)) {
    return report(Error{ErrorKind::usage, "timeline: this trace has no times of single calls", options.file,
                        Error::kNoOffset, "record with --timing lossless, or within a bound, as --timing 1%"});
  }
  const analyze::Sources sources(*trace, analyze::Sources::Look::in_trace_only);
  const auto filter = analyze::make_filter(options.filter, *trace, sources);
  if (!filter) return report(filter.error());
  if (filter->ranks.empty()) {
    return report(
        Error{ErrorKind::usage, "timeline: this trace has no ranks", options.file, Error::kNoOffset, "see cairn info"});
  }
  Output out;
  timeline::Wanted wanted;
  wanted.ranks = filter->ranks;
  if (filter->window) {
    wanted.begin_ns = filter->window->begin_ns;
    wanted.end_ns = filter->window->end_ns;
  }
  constexpr uint64_t kMostLines = 40;
  constexpr uint64_t kMostColumns = 100000;
  wanted.lines = std::max<uint64_t>(1, options.lines.value_or(options.json ? UINT64_MAX : kMostLines));
  // What stands before the letters: the ranks of a line.
  const size_t most_ranks = analyze::ranks_text({filter->ranks.back()}).size();
  const size_t before = std::max<size_t>(4, wanted.ranks.size() > wanted.lines ? 2 * most_ranks + 1 : most_ranks) + 2;
  const size_t width = out.width() == SIZE_MAX ? kNarrow : out.width();
  const size_t room = width > before + 10 ? width - before : 10;
  wanted.columns = std::clamp<uint64_t>(options.columns.value_or(room), 1, kMostColumns);
  const auto strip = timeline::strip_of(*trace, wanted);
  if (!strip) return report(strip.error(), options.file);
  say_exactness(*trace, Shown::begins_too);
  if (options.json) {
    out.write(json_of(options.file, *strip).dump() + "\n");
    return out.finish();
  }
  out.write(fmt::format("{}{}{}: {}\n", out.bold(), options.file, out.plain(), trace->run().command));
  out.write(fmt::format("{} from {} on, {} a column\n\n", time_text(strip->edges.end_ns - strip->edges.begin_ns),
                        time_text(strip->edges.begin_ns),
                        time_text((strip->edges.end_ns - strip->edges.begin_ns) / wanted.columns)));
  out.write(text_of(*strip));
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
  add_json(verb, *options);
  return [options] { return timeline_of(*options); };
}

}  // namespace cairn::cli
