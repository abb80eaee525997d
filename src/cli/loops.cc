// cairn loops: what ranks repeat, nested, with what a turn takes.
#include "analyze/loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "analyze/alike_kinds.h"
#include "analyze/decode.h"
#include "analyze/summary.h"
#include "cli/inspect.h"
#include "cli/verbs.h"
#include "tell/loops_json.h"
#include "terminal/csv.h"
#include "terminal/listing.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/rank_list.h"

namespace cairn::cli {
namespace {

using analyze::AlikeKinds;
using analyze::KindOfRank;
using analyze::Loop;
using analyze::LoopItem;
using analyze::LoopPlace;

struct LoopsOptions : Inspection {
  bool calls = false;
  bool all = false;
};

/// By --limit, in all of it.
uint64_t left_out_of(const Loop &loop) {
  uint64_t sum = loop.left_out;
  for (const Loop &inner : loop.body) sum += left_out_of(inner);
  return sum;
}

std::string turns_text(const LoopItem &item) {
  if (item.least == item.most) return grouped(item.most);
  return fmt::format("{}-{}", grouped(item.least), grouped(item.most));
}

/// What is shown of a kind: its loops, and with --calls all that is in them.
class KindText {
 public:
  KindText(const KindOfRank &kind, bool calls) : kind_(kind), calls_(calls), mpi_ns_(analyze::mpi_ns_of(kind)) {
    add(kind.all, 0);
  }
  [[nodiscard]] const Listing &list() const { return list_; }
  [[nodiscard]] bool found() const { return found_; }
  [[nodiscard]] bool shown() const { return shown_; }
  [[nodiscard]] uint64_t left_out() const { return small_; }

 private:
  void add(const Loop &outer, size_t depth) {
    for (const Loop &loop : outer.body) {
      const std::optional<double> calls = varying_calls(loop);
      const bool repeats = !loop.is_call() || (calls ? *calls > kOnce : loop.item->most > 1);
      found_ = found_ || repeats;
      // Programs that go another way each time have thousands of loops of a few turns.
      if (!calls_ && repeats && !analyze::is_told(loop, kind_, mpi_ns_)) {
        ++small_;
        continue;
      }
      if (repeats || calls_) list_.add(line(loop, depth));
      shown_ = shown_ || repeats || calls_;
      add(loop, depth + 1);
    }
  }

  /// The calls each time that it is come to, in the mean, where a visit is not just one: polls that found nothing stand
  /// together, and what follows from a poll may have been left out.
  [[nodiscard]] std::optional<double> varying_calls(const Loop &loop) const {
    if (!loop.is_call()) return std::nullopt;
    const LoopPlace &place = kind_.places[loop.item->symbol];
    if (place.calls == place.visits * kind_.ranks.size()) return std::nullopt;
    return loop.calls / static_cast<double>(kind_.ranks.size()) / static_cast<double>(loop.item->times);
  }

  std::vector<Cell> line(const Loop &loop, size_t depth) const {
    const Turn turn(loop, kind_.ranks.size());
    std::string text(2 * depth, ' ');
    if (loop.further_turns != 0) text += fmt::format("{} + ", grouped(loop.further_turns));
    if (const std::optional<double> calls = varying_calls(loop)) {
      if (*calls > kOnce) text += fmt::format("~{} x ", grouped(whole(*calls)));
      if (*calls < 1 / kOnce) text += "0-1 x ";
    } else if (loop.item->most > 1) {
      text += turns_text(*loop.item) + " x ";
    }
    if (loop.is_step) text += "time step  ";
    std::string where = analyze::text_of(loop, kind_.places);
    if (loop.is_call()) {
      const LoopPlace &place = kind_.places[loop.item->symbol];
      text += analyze::function_name(place.function) + (where.empty() ? "" : "  ") + where;
    } else {
      text += where.empty() ? "loop" : where;
    }
    const bool apart = loop.is_call() && analyze::is_apart(kind_.places[loop.item->symbol].function);
    Cell bytes = {(turn.all_sized ? "" : ">= ") + bytes_text(turn.bytes), turn.bytes};
    if (turn.bytes == 0) bytes = turn.all_sized ? nothing() : Cell{"unknown", nullptr};
    return {loop.time_ns && !apart ? share(whole(*loop.time_ns), mpi_ns_) : nothing(),
            turn.time_ns ? duration(*turn.time_ns) : nothing(), count(turn.calls), std::move(bytes), words(text)};
  }

  static constexpr double kOnce = 1.05;
  const KindOfRank &kind_;
  bool calls_;
  uint64_t mpi_ns_;
  bool found_ = false;
  bool shown_ = false;
  uint64_t small_ = 0;
  Listing list_{{{"%MPI", "share"},
                 {"time/turn", "time"},
                 {"calls/turn", "calls", false, 1},
                 {"bytes/turn", "bytes", false, 2},
                 {"turns and place", "place", true}}};
};

/// "ranks 0-3"; of a long list its beginning.
std::string some_ranks(const std::vector<uint32_t> &ranks) {
  constexpr size_t kMost = 60;
  std::string all = named_ranks(ranks);
  if (all.size() <= kMost) return all;
  return fmt::format("{} ranks, {},…", grouped(ranks.size()), all.substr(6, all.rfind(',', kMost) - 6));
}

std::string head_of(const AlikeKinds &alike) {
  const KindOfRank &kind = alike.kind;
  const std::string thread = kind.thread == 0 ? "" : fmt::format(", thread {}", kind.thread);
  std::string calls = plural(whole(alike.most_calls), "call");
  if (whole(alike.least_calls) != whole(alike.most_calls)) {
    calls = fmt::format("{} to {}", grouped(whole(alike.least_calls)), calls);
  }
  if (alike.kinds > 1) calls += fmt::format(" each, in {} orders", grouped(alike.kinds));
  return fmt::format("{}{}: {}{}", some_ranks(kind.ranks), thread, calls, alike.kinds > 1 ? "" : " each");
}

/// What is told at a glance: of the first kinds those that are alike, as one.
Result<std::vector<AlikeKinds>> at_a_glance(const analyze::LoopFinder &finder, const std::vector<KindOfRank> &kinds,
                                            bool calls) {
  constexpr size_t kMostKinds = 64;
  std::vector<KindOfRank> found;
  for (size_t i = 0; i < std::min(kinds.size(), calls ? 1 : kMostKinds); ++i) {
    KindOfRank kind = kinds[i];
    Result<void> done = finder.find(&kind);
    if (done) found.push_back(std::move(kind));
    if (!done && found.empty()) return tl::unexpected(done.error());
  }
  return analyze::join_alike(std::move(found));
}

/// A row for each item, with the ranks of the kind and how deep it lies.
void add_rows(const nlohmann::ordered_json &items, const KindOfRank &kind, uint64_t depth,
              nlohmann::ordered_json *rows) {
  for (const nlohmann::ordered_json &item : items) {
    nlohmann::ordered_json row{{"ranks", ranks_text(kind.ranks)}, {"thread", kind.thread}, {"depth", depth}};
    row["function"] = nullptr;
    for (const auto &[name, value] : item.items()) {
      if (name != "body" && name != "body_further") row[name] = value;
    }
    rows->push_back(std::move(row));
    if (item.contains("body")) add_rows(item["body"], kind, depth + 1, rows);
  }
}

std::string csv_text(const nlohmann::ordered_json &json, const std::vector<KindOfRank> &kinds) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (size_t i = 0; i < kinds.size(); ++i) add_rows(json["kinds"][i]["items"], kinds[i], 0, &rows);
  return csv_of(rows, {"ranks", "thread", "depth", "function", "place", "times", "turns"});
}

int loops(LoopsOptions &options) {
  if (options.filter.limit == 0U) {
    return report(Error{ErrorKind::usage, "--limit: 0 shows nothing", {}, Error::kNoOffset, "give at least 1"});
  }
  const auto trace = open_trace(options);
  if (!trace) return report(trace.error());
  const analyze::Sources sources(*trace);
  const auto filter = analyze::make_filter(options.filter, *trace, sources);
  if (!filter) return report(filter.error());
  const analyze::LoopFinder finder(*trace, sources);
  std::vector<KindOfRank> kinds = finder.kinds(*filter);
  for (const std::string &warning : sources.warnings()) say(warning);
  say_missing_calls(*trace, filter->ranks);
  say_exactness(*trace);
  const bool lists = options.json || options.csv;
  const bool one = !options.all && !lists && filter->all_ranks;
  size_t others = kinds.size();
  Output out;
  if (!lists) {
    out.write(fmt::format("{}{}{}: {}\n", out.bold(), options.file, out.plain(), trace->run().command));
  }
  std::vector<AlikeKinds> shown;
  if (one) {
    auto first = at_a_glance(finder, kinds, options.calls);
    if (!first) return report(first.error(), options.file);
    shown = *std::move(first);
    if (!shown.empty()) shown.resize(1);
  } else {
    for (KindOfRank &kind : kinds) {
      if (auto done = finder.find(&kind); !done) return report(done.error(), options.file);
      if (options.filter.limit) analyze::shorten(&kind.all, *options.filter.limit);
      if (lists) continue;
      shown.push_back(analyze::by_itself(std::move(kind)));
    }
  }
  for (AlikeKinds &alike : shown) {
    others -= alike.kinds;
    KindOfRank &kind = alike.kind;
    if (one && options.filter.limit) analyze::shorten(&kind.all, *options.filter.limit);
    const KindText text(kind, options.calls);
    out.write(fmt::format("\n{}{}\n", head_of(alike), text.found() ? "" : ", nothing repeats"));
    if (text.shown()) text.list().print(out);
    if (kind.all.shortened) {
      out.write(fmt::format("({} with fewer calls left out; a larger --limit shows more)\n",
                            plural(left_out_of(kind.all), "loop or call", "loops and calls")));
    }
    if (text.left_out() != 0) {
      out.write(fmt::format("({} with less than 1 % of calls and of time in MPI left out; --calls shows all)\n",
                            plural(text.left_out(), "loop")));
    }
  }
  if (options.json) {
    nlohmann::ordered_json json = loops_json(options.file, *trace, kinds);
    add_missing_calls(*trace, filter->ranks, &json);
    out.write(json.dump(2) + "\n");
  }
  if (options.csv) {
    out.keep_lines();
    out.write(csv_text(loops_json(options.file, *trace, kinds), kinds));
  }
  if (one && others != 0) {
    say(fmt::format("{} of ranks, with other calls: see them with --all, or that of one rank with --rank",
                    plural(others, "further kind")));
  }
  return out.finish();
}

}  // namespace

Action declare_loops(Options &verb) {
  auto options = std::make_shared<LoopsOptions>();
  add_file(verb, *options);
  verb.flag("--calls", options->calls, "Every call in them, too");
  verb.flag("--all", options->all, "Of all kinds of ranks, not only of the one that most are of");
  verb.text("--rank", options->filter.ranks, "Only of kinds that these ranks are of, as in 0-7,12", "LIST");
  verb.text("--thread", options->filter.threads, "Only these threads of each rank", "LIST");
  verb.number("--limit", options->filter.limit,
              "Of each kind of ranks the N loops and calls with the most calls, and what has the most in each", "N");
  add_csv_and_json(verb, *options, "a line for each loop and call");
  return [options] { return loops(*options); };
}

}  // namespace cairn::cli
