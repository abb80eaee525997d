// cairn estimate: how large a trace on more ranks, or of more steps, would be.
#include "estimate/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "cli/inspect.h"
#include "cli/verbs.h"
#include "terminal/csv.h"
#include "terminal/listing.h"
#include "terminal/terminal.h"
#include "terminal/words.h"

namespace cairn::cli {
namespace {

using estimate::Estimate;
using estimate::Guess;
using nlohmann::ordered_json;

struct EstimateOptions {
  std::vector<std::string> files;
  std::optional<uint64_t> ranks;
  std::optional<uint64_t> steps;
  bool json = false;
  bool csv = false;
};

uint64_t in_bytes(double value) { return value <= 0 ? 0 : static_cast<uint64_t>(std::llround(value)); }

Cell bytes_cell(double value) { return {bytes_text(in_bytes(value)), in_bytes(value)}; }

std::vector<std::string> heads_of(const Estimate &found) {
  std::vector<std::string> heads;
  for (size_t i = 0; i < found.ranks.size(); ++i) {
    heads.push_back(found.of_steps ? fmt::format("{} steps", found.steps[i]) : fmt::format("{} ranks", found.ranks[i]));
  }
  return heads;
}

/// `heads` must live as long as the list.
Listing list_of(const Estimate &found, const std::vector<std::string> &heads) {
  std::vector<Column> columns = {{"section", "section", true}};
  for (const std::string &head : heads) columns.push_back({head.c_str(), nullptr});
  columns.insert(columns.end(), {{"estimate", "bytes"}, {"least", "least"}, {"most", "most"}, {"grows", "law", true}});
  Listing list(std::move(columns));
  const auto add = [&list](const std::string &name, const std::vector<uint64_t> &bytes, const Guess &guess,
                           const std::string &law) {
    std::vector<Cell> cells = {words(name)};
    for (const uint64_t each : bytes) cells.push_back({bytes_text(each), each});
    cells.insert(cells.end(), {bytes_cell(guess.value), bytes_cell(guess.least), bytes_cell(guess.most), words(law)});
    list.add(std::move(cells));
  };
  std::vector<uint64_t> totals(found.ranks.size());
  for (const estimate::Section &section : found.sections) {
    for (size_t i = 0; i < totals.size(); ++i) totals[i] += section.bytes[i];
    add(section.name, section.bytes, section.guess, estimate::name_of(section.guess.law));
  }
  add("all", totals, found.total, "");
  return list;
}

ordered_json guess_json(const Guess &guess) {
  return {{"bytes", in_bytes(guess.value)}, {"least", in_bytes(guess.least)}, {"most", in_bytes(guess.most)}};
}

ordered_json sections_json(const estimate::Estimate &found) {
  ordered_json sections = ordered_json::array();
  for (const estimate::Section &section : found.sections) {
    ordered_json one = guess_json(section.guess);
    one["name"] = section.name;
    one["law"] = estimate::name_of(section.guess.law);
    one["recorded"] = section.bytes;
    sections.push_back(std::move(one));
  }
  return sections;
}

int estimate_traces(EstimateOptions &options) {
  const bool of_steps = !options.ranks && options.steps;  // then of as many ranks as the recordings have
  if (!of_steps && (!options.ranks || *options.ranks == 0 || *options.ranks > UINT32_MAX)) {
    return refuse("estimate needs to know of how many ranks or steps",
                  "say it with -n, as in -n 1024, or --steps, as in --steps 1000");
  }
  if (options.steps && *options.steps == 0) return refuse("a run has at least one step", "write it as in --steps 1000");
  std::vector<trace::Trace> traces;
  traces.reserve(options.files.size());
  std::vector<estimate::Recording> recordings;
  for (const std::string &file : options.files) {
    auto trace = trace::Trace::open(file);
    if (!trace) return report(trace.error());
    traces.push_back(*std::move(trace));
    recordings.push_back({&traces.back(), file});
  }
  const auto other = [&](const trace::Trace &trace) { return trace.rank_count() != traces.front().rank_count(); };
  if (of_steps) {
    if (traces.empty() || std::any_of(traces.begin(), traces.end(), other)) {
      return refuse("these recordings are of different numbers of ranks", "say with -n of how many the estimate is");
    }
    options.ranks = traces.front().rank_count();
  }
  const auto found = estimate::estimate(std::move(recordings), *options.ranks, options.steps);
  if (!found) return report(found.error());
  if (found->classes.back() > found->classes.front()) {
    say("the number of classes still grows with these recordings, and so may the structure: record larger runs");
  }
  constexpr double kFar = 16;
  if (found->beyond > kFar) {
    say(fmt::format("this is {:.0f} times the largest recording: take it as an order of magnitude", found->beyond));
  }
  Output out;
  if (options.json) {
    ordered_json json;
    json["schema"] = "cairn.estimate/1";
    json["ranks"] = *options.ranks;
    json["steps"] = options.steps ? ordered_json(*options.steps) : ordered_json();
    json["of"] = found->of_steps ? "steps" : "ranks";
    json["recordings"] = ordered_json::array();
    for (size_t i = 0; i < found->ranks.size(); ++i) {
      json["recordings"].push_back(
          {{"ranks", found->ranks[i]}, {"steps", found->steps[i]}, {"classes", found->classes[i]}});
    }
    json["file"] = guess_json(found->total);
    json["memory"] = guess_json(found->memory);
    json["largest_off"] = cli::json_of(found->largest_off);
    json["sections"] = sections_json(*found);
    out.write(json.dump(2) + "\n");
    return out.finish();
  }
  if (options.csv) {
    out.keep_lines();
    out.write(csv_of(sections_json(*found), {"name"}));
    return out.finish();
  }
  out.write(fmt::format("{}{}: {}, from {} to {}\n", plural(*options.ranks, "rank"),
                        options.steps ? fmt::format(", {} steps", *options.steps) : "",
                        bytes_text(in_bytes(found->total.value)), bytes_text(in_bytes(found->total.least)),
                        bytes_text(in_bytes(found->total.most))));
  if (found->memory.value > 0) {
    out.write(fmt::format("recorder's memory on the rank that needs most: {}, from {} to {}\n",
                          bytes_text(in_bytes(found->memory.value)), bytes_text(in_bytes(found->memory.least)),
                          bytes_text(in_bytes(found->memory.most))));
  }
  if (found->largest_off) {
    out.write(fmt::format("the largest recording, from the others: {:+.1f} %\n", 100 * *found->largest_off));
  } else {
    out.write("two recordings fit any law: a third tells which\n");
  }
  out.write("\n");
  const std::vector<std::string> heads = heads_of(*found);
  list_of(*found, heads).print(out);
  return out.finish();
}

}  // namespace

Action declare_estimate(Options &verb) {
  auto options = std::make_shared<EstimateOptions>();
  verb.words("files", options->files, "Traces of the program on different numbers of ranks, or of steps");
  verb.number("-n,--ranks", options->ranks,
              "How many ranks the trace would have (with --steps: as many as all recordings have)", "COUNT");
  verb.number("--steps", options->steps, "How many turns of its time step (default: as many as the largest has)", "N");
  verb.flag("--csv", options->csv, "Print CSV, a line for each section of the file");
  verb.flag("--json", options->json, "Print JSON, with the name of its schema");
  verb.apart("--csv", "--json", "--csv and --json cannot go together");
  return [options] { return estimate_traces(*options); };
}

}  // namespace cairn::cli
