// cairn ranks: how much each rank does and how long it takes, which classes of ranks there are, and why they differ.
#include "ranks/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "cli/inspect.h"
#include "cli/left_out_traffic.h"
#include "cli/reading.h"
#include "cli/verbs.h"
#include "terminal/listing.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/rank_list.h"
#include "text/utf8.h"
#include "trace/read/exactness.h"

namespace cairn::cli {
namespace {

using nlohmann::ordered_json;
using ranks::RankClass;
using ranks::Ranks;
using ranks::Spread;

constexpr uint64_t kShownRanks = 10;
constexpr size_t kShownDifferences = 4;

struct RanksOptions : Inspection {
  std::string sort = "outside";
  std::optional<uint64_t> top;
};

using Shape = Cell (*)(uint64_t);
Cell volume(uint64_t bytes) { return {bytes_text(bytes), bytes}; }
uint64_t rounded(double value) { return static_cast<uint64_t>(std::llround(value)); }

ordered_json spread_json(const Spread &spread, double unit) {
  const auto in_units = [unit](uint64_t value) -> ordered_json {
    if (unit == 1) return value;
    return static_cast<double>(value) / unit;
  };
  return {{"mean", spread.mean / unit},         {"least", in_units(spread.least)}, {"least_on", spread.least_rank},
          {"most", in_units(spread.most)},      {"most_on", spread.most_rank},     {"most_over_mean", spread.over_mean},
          {"percent_imbalance", spread.percent}};
}

Listing list_of_all(const Ranks &ranks) {
  Listing list({{"", nullptr, true},
                {"mean", nullptr},
                {"least", nullptr},
                {"on", nullptr},
                {"most", nullptr},
                {"on", nullptr},
                {"most/mean", nullptr},
                {"%imbalance", nullptr}});
  const auto add = [&list](const char *what, const std::optional<Spread> &spread, Shape shape) {
    if (!spread) return;
    list.add({words(what), shape(rounded(spread->mean)), shape(spread->least),
              words(std::to_string(spread->least_rank)), shape(spread->most), words(std::to_string(spread->most_rank)),
              words(fmt::format("{:.2f}", spread->over_mean)), words(fmt::format("{:.1f}", spread->percent))});
  };
  add("outside MPI", ranks.outside, duration);
  add("in MPI", ranks.in_mpi, duration);
  add("bytes given", ranks.bytes, volume);
  add("calls", ranks.calls, count);
  return list;
}

/// "12.3 ms (9.10 ms on 3, 14.2 ms on 7)"; where all are equal, the mean alone.
std::string spread_text(const Spread &spread, Shape shape) {
  std::string text = shape(rounded(spread.mean)).text;
  if (spread.least == spread.most) return text;
  return text + fmt::format(" ({} on {}, {} on {})", shape(spread.least).text, spread.least_rank,
                            shape(spread.most).text, spread.most_rank);
}

Listing list_of_classes(const Ranks &ranks, uint64_t most) {
  const bool outside = ranks.outside.has_value();
  const bool in_mpi = ranks.in_mpi.has_value();
  Listing list({{"class", nullptr},
                {"ranks", nullptr},
                {"calls", nullptr, false, 1},
                {"bytes given", nullptr, false, 2},
                {outside ? "outside MPI" : nullptr, nullptr, false, 3},
                {in_mpi ? "in MPI" : nullptr, nullptr, false, 4},
                {"which", nullptr, true}});
  for (size_t number = 0; number < ranks.classes.size() && number < most; ++number) {
    const RankClass &one = ranks.classes[number];
    std::string which = ranks_text(one.ranks);
    if (one.threads > 1) which += fmt::format(", {} threads", one.threads);
    list.add({words(std::to_string(number)), count(one.ranks.size()), words(spread_text(one.calls, count)),
              words(spread_text(one.bytes, volume)),
              one.outside ? words(spread_text(*one.outside, duration)) : nothing(),
              one.in_mpi ? words(spread_text(*one.in_mpi, duration)) : nothing(), words(which)});
    for (size_t i = 0; i < one.differences.size() && i < kShownDifferences; ++i) {
      list.add_below({"       " + one.differences[i], nullptr});
    }
    if (one.differences.size() > kShownDifferences) {
      list.add_below({fmt::format("       and {}, which --json tells",
                                  plural(one.differences.size() - kShownDifferences, "further difference")),
                      nullptr});
    }
  }
  return list;
}

Listing list_of_ranks(const std::vector<ranks::RankLine> &lines, bool timed, uint64_t most) {
  const bool hosts =
      std::any_of(lines.begin(), lines.end(), [](const ranks::RankLine &line) { return !line.host.empty(); });
  Listing list({{"rank", "rank"},
                {"class", "class", false, 4},
                {timed ? "outside MPI" : nullptr, "outside_seconds"},
                {timed ? "in MPI" : nullptr, "mpi_seconds"},
                {"bytes given", "bytes", false, 2},
                {nullptr, "unknown_sizes"},
                {"calls", "calls", false, 3},
                {hosts ? "host" : nullptr, "host", true, 5}});
  for (const ranks::RankLine &line : lines) {
    if (most-- == 0) break;
    Cell bytes = volume(line.bytes);
    if (line.unsized != 0) bytes.text.insert(0, ">= ");
    list.add({{std::to_string(line.rank), line.rank},
              {std::to_string(line.class_number), line.class_number},
              timed ? duration(line.outside_ns) : nothing(),
              line.timed ? duration(line.mpi_ns) : nothing(),
              std::move(bytes),
              count(line.unsized),
              count(line.calls),
              words(line.host)});
  }
  return list;
}

void sort_by(const std::string &key, std::vector<ranks::RankLine> *lines) {
  const auto by = [lines](uint64_t ranks::RankLine::*number) {
    std::stable_sort(lines->begin(), lines->end(),
                     [number](const ranks::RankLine &a, const ranks::RankLine &b) { return a.*number > b.*number; });
  };
  if (key == "outside") by(&ranks::RankLine::outside_ns);
  if (key == "mpi") by(&ranks::RankLine::mpi_ns);
  if (key == "bytes") by(&ranks::RankLine::bytes);
  if (key == "calls") by(&ranks::RankLine::calls);
}

void print_text(Output &out, const RanksOptions &options, const trace::Trace &trace, const Ranks &found,
                const std::vector<ranks::RankLine> &lines, uint64_t top) {
  out.write(fmt::format("{}{}{}: {}\n", out.bold(), options.file, out.plain(), trace.run().command));
  out.write(
      fmt::format("{} in {}\n\n", plural(lines.size(), "rank"), plural(found.classes.size(), "class", "classes")));
  list_of_all(found).print(out);
  out.write("\nclasses of ranks: the same calls at the same places, in one order\n");
  list_of_classes(found, top).print(out);
  if (found.classes.size() > top) {
    out.write(fmt::format("({} more; --top tells them)\n", grouped(found.classes.size() - top)));
  }
  const std::string what = options.sort == "outside" ? "time outside MPI"
                           : options.sort == "mpi"   ? "time in MPI"
                           : options.sort == "rank"  ? ""
                                                     : options.sort;
  out.write(what.empty() ? "\nranks\n" : fmt::format("\nranks with most {}\n", what));
  list_of_ranks(lines, found.timed, top).print(out);
  if (lines.size() > top) out.write(fmt::format("({} more; --top tells them)\n", grouped(lines.size() - top)));
}

void print_json(Output &out, const RanksOptions &options, const trace::Trace &trace, const Ranks &found,
                const std::vector<ranks::RankLine> &lines, uint64_t top, const std::vector<uint32_t> &chosen) {
  constexpr double kSecond = 1e9;
  const auto spreads = [&](const Spread &calls, const Spread &bytes, const std::optional<Spread> &outside,
                           const std::optional<Spread> &in_mpi, ordered_json *into) {
    (*into)["calls"] = spread_json(calls, 1);
    (*into)["bytes"] = spread_json(bytes, 1);
    (*into)["outside_seconds"] = outside ? spread_json(*outside, kSecond) : ordered_json();
    (*into)["mpi_seconds"] = in_mpi ? spread_json(*in_mpi, kSecond) : ordered_json();
  };
  ordered_json json;
  json["schema"] = "cairn.ranks/1";
  json["file"] = valid_utf8(options.file);
  add_missing_calls(trace, chosen, &json);
  const std::string within = trace::exactness(trace);
  json["times_are"] = within.empty() ? "exact" : within;
  json["unknown_processes"] = found.seen.nowhere;
  json["expanded_ranks"] = found.seen.expanded_ranks;
  spreads(found.calls, found.bytes, found.outside, found.in_mpi, &json["all"]);
  json["classes"] = ordered_json::array();
  for (const RankClass &one : found.classes) {
    if (json["classes"].size() == top) break;
    ordered_json shown;
    shown["ranks"] = one.ranks;
    shown["threads"] = one.threads;
    spreads(one.calls, one.bytes, one.outside, one.in_mpi, &shown);
    shown["similar"] = cli::json_of(one.similar);
    shown["differences"] = cli::json_of(one.differences);
    json["classes"].push_back(std::move(shown));
  }
  json["further_classes"] = found.classes.size() - json["classes"].size();
  json["ranks"] = list_of_ranks(lines, found.timed, top).json();
  out.write(json.dump(2) + "\n");
}

void print_csv(Output &out, const std::vector<ranks::RankLine> &lines, bool timed, uint64_t top) {
  out.write("rank,class,host,calls,bytes,unknown_sizes,outside_seconds,mpi_seconds\n");
  const auto seconds = [](bool known, uint64_t ns) {
    return known ? fmt::format("{:.9f}", static_cast<double>(ns) / 1e9) : "";
  };
  for (const ranks::RankLine &line : lines) {
    if (top-- == 0) break;
    out.write(fmt::format("{},{},{},{},{},{},{},{}\n", line.rank, line.class_number, csv_quoted(line.host), line.calls,
                          line.bytes, line.unsized, seconds(timed, line.outside_ns), seconds(line.timed, line.mpi_ns)));
  }
}

int ranks_of_run(RanksOptions &options) {
  const auto trace = open_trace(options, Open::wanted_ranks);
  if (!trace) return report(trace.error());
  const analyze::Sources sources(*trace);
  const auto filter = analyze::make_filter(options.filter, *trace, sources);
  if (!filter) return report(filter.error());
  if (filter->ranks.empty()) {
    return report(
        Error{ErrorKind::usage, "ranks: this trace has no ranks", options.file, Error::kNoOffset, "see cairn info"});
  }
  const bool all = options.csv || options.json;
  const uint64_t top = options.top.value_or(all ? UINT64_MAX : kShownRanks);
  // Of thousands of classes the differences of the first say enough.
  constexpr uint64_t kMostCompared = 1000;
  Reading reading(*trace, filter->ranks);
  auto found =
      ranks::ranks_of(*trace, sources, *filter, options.csv ? 0 : std::min(options.top.value_or(top), kMostCompared));
  reading.end();
  if (!found) return report(found.error(), options.file);
  for (const std::string &warning : sources.warnings()) say(warning);
  say_missing_calls(*trace, filter->ranks);
  if (found->timed) say_exactness(*trace);
  if (!found->timed) say("this trace has no times: ranks are told by calls and bytes alone");
  say_left_out(found->seen, *trace);
  if (!found->timed && options.sort == "outside") options.sort = "bytes";
  std::vector<ranks::RankLine> lines = found->ranks;
  sort_by(options.sort, &lines);
  Output out;
  if (options.json) {
    print_json(out, options, *trace, *found, lines, top, filter->ranks);
  } else if (options.csv) {
    out.keep_lines();
    print_csv(out, lines, found->timed, top);
  } else {
    print_text(out, options, *trace, *found, lines, top);
  }
  return finish_sums(&out, found->damaged, options.file);
}

}  // namespace

Action declare_ranks(Options &verb) {
  auto options = std::make_shared<RanksOptions>();
  add_file(verb, *options);
  verb.choice("--sort", options->sort, {"outside", "mpi", "bytes", "calls", "rank"},
              "Order of the ranks: by time outside MPI, in MPI, bytes, calls, or their numbers", "KEY");
  verb.number("--top", options->top, "At most N ranks and N classes (default: 10; of JSON and CSV all)", "N");
  add_call_filters(verb, *options);
  add_csv_and_json(verb, *options, "a line for each rank");
  return [options] { return ranks_of_run(*options); };
}

}  // namespace cairn::cli
