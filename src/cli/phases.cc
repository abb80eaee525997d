// cairn phases: what the run did when, over all ranks, as a short list of phases.
#include "phases/phases.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "analyze/decode.h"
#include "cli/inspect.h"
#include "cli/reading.h"
#include "cli/verbs.h"
#include "terminal/listing.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/rank_list.h"
#include "text/utf8.h"
#include "timing/mode.h"
#include "trace/read/exactness.h"

namespace cairn::cli {
namespace {

using nlohmann::ordered_json;
using phases::Moment;
using phases::OnRanks;
using phases::Phase;

struct PhasesOptions : Inspection {
  std::optional<uint64_t> depth;
};

uint64_t nearest(double value) { return value <= 0 ? 0 : static_cast<uint64_t>(std::llround(value)); }

std::string title_of(const Phase &phase) {
  std::string text;
  if (!phase.turns.empty()) text = phase.turns + " x ";
  text += phase.what == phases::What::loop && !phase.place.empty() ? phase.place
          : phase.place.empty()                                    ? phases::name_of(phase.what)
                                : fmt::format("{}, {}", phases::name_of(phase.what), phase.place);
  return text;
}

/// "30 turns of 5.06 ms (3.01 ms to 16.2 ms, turn 9 on 2); the first tenth 3.9 ms, the last 7.2 ms (+85 %)".
std::string turns_text(const phases::Turns &took) {
  const auto time = [](double ns) { return time_text(nearest(ns)); };
  std::string text = fmt::format("a turn {}, from {} to {} (turn {} on rank {})", time(took.mean_ns),
                                 time_text(took.least_ns), time_text(took.most_ns), took.most_turn, took.most_rank);
  if (took.first_tenth_ns <= 0) return text;
  return text + fmt::format("; of the first tenth {}, of the last {} ({:+.0f} %)", time(took.first_tenth_ns),
                            time(took.last_tenth_ns), 100 * (took.last_tenth_ns / took.first_tenth_ns - 1));
}

std::string moments_text(const Phase &phase) {
  const auto span = [](const Moment &first, const Moment &last) {
    return fmt::format("{} on {} to {} on {}", time_text(first.ns), first.rank, time_text(last.ns), last.rank);
  };
  return fmt::format("begins {}, ends {}", span(*phase.first_begin, *phase.last_begin),
                     span(*phase.first_end, *phase.last_end));
}

Listing list_of(const phases::Run &run) {
  const char *begin = run.each_timed ? "begin" : nullptr;

  Listing list({{"phase", nullptr},
                {begin, nullptr},
                {run.gaps ? "time" : nullptr, nullptr},
                {run.timed ? "in MPI" : nullptr, nullptr, false, 3},
                {run.gaps ? "%MPI" : nullptr, nullptr, false, 3},
                {"calls", nullptr, false, 1},
                {"bytes", nullptr, false, 2},
                {"ranks", nullptr, false, 4},
                {run.timed ? "most in" : nullptr, nullptr, true, 5},
                {"what", nullptr, true}});
  size_t number = 0;
  for (const Phase &phase : run.phases) {
    uint64_t ranks = 0;
    for (const OnRanks &on : phase.on) ranks += on.ranks.size();
    list.add({words(std::to_string(number++)), phase.first_begin ? duration(phase.first_begin->ns) : nothing(),
              phase.mean_ns ? duration(nearest(*phase.mean_ns)) : nothing(),
              phase.mpi_ns ? duration(nearest(*phase.mpi_ns)) : nothing(),
              phase.mean_ns ? share(nearest(*phase.mpi_ns), nearest(*phase.mean_ns)) : nothing(),
              count(nearest(phase.calls)), Cell{bytes_text(nearest(phase.bytes)), nearest(phase.bytes)}, count(ranks),
              phase.most_function ? words(analyze::function_name(*phase.most_function)) : nothing(),
              words(title_of(phase))});
    const auto below = [&list](const std::string &text) { list.add_below({"         " + text, nullptr}); };
    if (phase.took) below(turns_text(*phase.took));
    if (!phase.note.empty()) below(phase.note);
    if (phase.first_begin && ranks > 1) below(moments_text(phase));
    for (const OnRanks &on : phase.on) {
      if (on.turns != phase.turns) below(fmt::format("{} turns on {}", on.turns, named_ranks(on.ranks)));
    }
    if (!phase.lacking.empty()) below("not on " + named_ranks(phase.lacking));
    for (const phases::InnerLoop &inner : phase.inner) {
      std::string text = std::string(2 * (inner.depth - 1), ' ') + fmt::format("{} x {}", inner.turns, inner.place);
      if (inner.ns) text += fmt::format(", {} of a rank", time_text(nearest(*inner.ns)));
      below(text);
    }
  }
  return list;
}

ordered_json seconds(const std::optional<double> &ns) { return ns ? ordered_json(*ns / 1e9) : ordered_json(); }
ordered_json moment_json(const std::optional<Moment> &moment) {
  if (!moment) return nullptr;
  return {{"seconds", static_cast<double>(moment->ns) / 1e9}, {"rank", moment->rank}};
}

ordered_json json_of_phase(const Phase &phase) {
  ordered_json one;
  one["what"] = phases::name_of(phase.what);
  one["place"] = valid_utf8(phase.place);
  one["turns"] = phase.turns.empty() ? ordered_json() : ordered_json(phase.turns);
  one["note"] = phase.note;
  one["calls"] = nearest(phase.calls);
  one["bytes"] = nearest(phase.bytes);
  one["mean_seconds"] = seconds(phase.mean_ns);
  one["mpi_seconds"] = seconds(phase.mpi_ns);
  one["most_in"] = phase.most_function ? ordered_json(analyze::function_name(*phase.most_function)) : ordered_json();
  one["first_begin"] = moment_json(phase.first_begin);
  one["last_begin"] = moment_json(phase.last_begin);
  one["first_end"] = moment_json(phase.first_end);
  one["last_end"] = moment_json(phase.last_end);
  one["a_turn"] = nullptr;
  if (phase.took) {
    const phases::Turns &took = *phase.took;
    one["a_turn"] = {{"turns", took.count},
                     {"mean_seconds", took.mean_ns / 1e9},
                     {"least_seconds", static_cast<double>(took.least_ns) / 1e9},
                     {"most_seconds", static_cast<double>(took.most_ns) / 1e9},
                     {"most_turn", took.most_turn},
                     {"most_rank", took.most_rank},
                     {"first_tenth_seconds", took.first_tenth_ns / 1e9},
                     {"last_tenth_seconds", took.last_tenth_ns / 1e9}};
  }
  one["on"] = ordered_json::array();
  for (const OnRanks &on : phase.on) {
    one["on"].push_back({{"ranks", on.ranks},
                         {"turns", on.turns.empty() ? ordered_json() : ordered_json(on.turns)},
                         {"calls", nearest(on.calls)}});
  }
  one["lacking"] = phase.lacking;
  one["loops"] = ordered_json::array();
  for (const phases::InnerLoop &inner : phase.inner) {
    one["loops"].push_back({{"depth", inner.depth},
                            {"place", valid_utf8(inner.place)},
                            {"turns", inner.turns},
                            {"times", inner.times},
                            {"seconds", seconds(inner.ns)}});
  }
  return one;
}

void print_csv(Output &out, const phases::Run &run) {
  out.write("phase,what,turns,ranks,calls,bytes,mean_seconds,mpi_seconds,first_begin,last_end,most_in,place\n");
  size_t number = 0;
  const auto text = [](const std::optional<double> &ns) { return ns ? fmt::format("{:.9f}", *ns / 1e9) : ""; };
  const auto moment = [](const std::optional<Moment> &at) {
    return at ? fmt::format("{:.9f}", static_cast<double>(at->ns) / 1e9) : "";
  };
  for (const Phase &phase : run.phases) {
    uint64_t ranks = 0;
    for (const OnRanks &on : phase.on) ranks += on.ranks.size();
    out.write(fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", number++, phases::name_of(phase.what), phase.turns,
                          ranks, nearest(phase.calls), nearest(phase.bytes), text(phase.mean_ns), text(phase.mpi_ns),
                          moment(phase.first_begin), moment(phase.last_end),
                          phase.most_function ? analyze::function_name(*phase.most_function) : "",
                          csv_quoted(phase.place)));
  }
}

int phases_of_run(PhasesOptions &options) {
  const auto trace = open_trace(options);
  if (!trace) return report(trace.error());
  const analyze::Sources sources(*trace);
  const auto filter = analyze::make_filter(options.filter, *trace, sources);
  if (!filter) return report(filter.error());
  Reading reading(*trace, filter->ranks);
  const auto run = phases::phases_of(*trace, sources, *filter, options.depth.value_or(1));
  reading.end();
  if (!run) return report(run.error(), options.file);
  for (const std::string &warning : sources.warnings()) say(warning);
  say_missing_calls(*trace, filter->ranks);
  if (run->timed) say_exactness(*trace, Shown::begins_too);
  if (!run->timed) say("this trace has no times of calls: phases are told by calls and bytes alone");
  if (run->timed && !run->each_timed) {
    say("when phases began is not in this trace, and times are means of all calls at a place; record with --timing "
        "context to see when, and what turns took");
  }
  if (run->threads) say("of each rank only the first thread that calls MPI is told");
  Output out;
  if (options.json) {
    ordered_json json;
    json["schema"] = "cairn.phases/1";
    json["file"] = valid_utf8(options.file);
    add_missing_calls(*trace, filter->ranks, &json);
    const std::string within = trace::exactness(*trace);
    json["times_are"] = within.empty() ? "exact" : within;
    json["each_timed"] = run->each_timed;
    json["phases"] = ordered_json::array();
    for (const Phase &phase : run->phases) json["phases"].push_back(json_of_phase(phase));
    out.write(json.dump(2) + "\n");
  } else if (options.csv) {
    out.keep_lines();
    print_csv(out, *run);
  } else {
    out.write(fmt::format("{}{}{}: {}\n{}\n\n", out.bold(), options.file, out.plain(), trace->run().command,
                          plural(run->ranks.size(), "rank")));
    list_of(*run).print(out);
  }
  return finish_sums(&out, run->damaged, options.file);
}

}  // namespace

Action declare_phases(Options &verb) {
  auto options = std::make_shared<PhasesOptions>();
  add_file(verb, *options);
  verb.number("--depth", options->depth, "Loops within phases, too, down to this level (default: 1, none)", "N");
  verb.text("--rank", options->filter.ranks, "Only these ranks, as in 0-7,12; ^3 leaves one out", "LIST");
  add_csv_and_json(verb, *options, "a line for each phase");
  return [options] { return phases_of_run(*options); };
}

}  // namespace cairn::cli
