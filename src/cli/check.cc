// cairn check: is a run correct, as far as its trace tells? Exit code 1 if something was found.
#include "check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "analyze/decode.h"
#include "analyze/filter.h"
#include "cli/inspect.h"
#include "cli/verbs.h"
#include "terminal/csv.h"
#include "terminal/listing.h"
#include "terminal/progress.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/nearest.h"
#include "text/rank_list.h"
#include "text/utf8.h"

namespace cairn::cli {
namespace {

using check::Finding;
using check::Kind;
using nlohmann::ordered_json;

struct CheckOptions : Inspection {
  std::string kinds;
  bool every_call = false;
};

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (size_t i = 0; i < check::kKinds; ++i) names.emplace_back(check::name_of(static_cast<Kind>(i)));
  return names;
}

/// "types,buffers", or "^leaks": all but these.
Result<check::Kinds> kinds_of(const std::string &text) {
  if (text.empty()) return check::Kinds::all();
  const std::vector<std::string> names = kind_names();
  check::Kinds taken;
  check::Kinds left_out;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const bool out = !word.empty() && word[0] == '^';
    if (out) word.erase(0, 1);
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end()) {
      const std::string near = nearest(word, names);
      std::string all;
      for (const std::string &name : names) all += (all.empty() ? "" : ", ") + name;
      return tl::unexpected(Error{ErrorKind::usage,
                                  fmt::format("there is no kind '{}'", word),
                                  {},
                                  Error::kNoOffset,
                                  near.empty() ? "kinds are " + all : fmt::format("did you mean '{}'?", near)});
    }
    (out ? left_out : taken).add(static_cast<Kind>(found - names.begin()));
  }
  if (taken.empty()) taken = check::Kinds::all();
  for (size_t i = 0; i < check::kKinds; ++i) {
    if (left_out.has(static_cast<Kind>(i))) taken.remove(static_cast<Kind>(i));
  }
  return taken;
}

ordered_json place_json(const analyze::Place &place) {
  ordered_json json;
  json["function"] = analyze::function_name(place.function);
  json["site"] = valid_utf8(place.position.text());
  json["file"] = place.position.file.empty() ? ordered_json() : ordered_json(valid_utf8(place.position.file));
  json["line"] = place.position.line == 0 ? ordered_json() : ordered_json(place.position.line);
  return json;
}

ordered_json met_json(const check::Met &met) { return {{"rank", met.rank}, {"call", json_of(met.call)}}; }

ordered_json finding_json(const Finding &finding, const check::Report &report) {
  ordered_json json;
  json["kind"] = check::name_of(finding.kind);
  json["sure"] = finding.sure;
  json["text"] = valid_utf8(finding.text);
  json["count"] = finding.count;
  json["ranks"] = finding.ranks;
  json["other_ranks"] = finding.others;
  json["call"] = place_json(report.places[finding.place]);
  json["first"] = met_json(finding.first);
  json["other_call"] = finding.other_place ? place_json(report.places[*finding.other_place]) : ordered_json();
  json["other_first"] = finding.other_first ? met_json(*finding.other_first) : ordered_json();
  return json;
}

std::string met_text(const check::Met &met) {
  return met.call ? fmt::format("rank {} call {}", met.rank, grouped(*met.call)) : fmt::format("rank {}", met.rank);
}

void print(const Finding &finding, const check::Report &report, Output &out) {
  const analyze::Place &place = report.places[finding.place];
  out.write(fmt::format("{}{}: {}{}{}\n", finding.sure ? "" : "perhaps ", check::name_of(finding.kind), out.bold(),
                        analyze::function_at(place.function, place.position.short_text()), out.plain()));
  out.write("    " + finding.text + "\n");
  if (finding.other_place) {
    const analyze::Place &other = report.places[*finding.other_place];
    out.write(fmt::format("    with {}\n", analyze::function_at(other.function, other.position.short_text())));
  }
  const std::vector<uint32_t> ranks(finding.ranks.begin(), finding.ranks.end());
  out.write(fmt::format("    {}, {}; first {}{}\n", finding.count == 1 ? "once" : grouped(finding.count) + " times",
                        named_ranks(ranks), met_text(finding.first),
                        finding.other_first ? ", with " + met_text(*finding.other_first) : ""));
}

int check_run(CheckOptions &options) {
  const auto kinds = kinds_of(options.kinds);
  if (!kinds) return report(kinds.error());
  const auto trace = open_trace(options);
  if (!trace) return report(trace.error());
  const analyze::Sources sources(*trace);
  const auto filter = analyze::make_filter(options.filter, *trace, sources);
  if (!filter) return report(filter.error());
  Progress progress(0, "calls");
  auto found = check::check(*trace, sources, *kinds, options.every_call, [&progress](uint64_t calls, uint64_t whole) {
    progress.be(whole);
    progress.add(calls);
  });
  progress.clear();
  if (!found) return report(found.error(), options.file);
  if (!filter->all_ranks) {
    std::erase_if(found->findings, [&](const Finding &finding) {
      return std::none_of(filter->ranks.begin(), filter->ranks.end(),
                          [&](uint32_t rank) { return finding.ranks.contains(rank) || finding.others.contains(rank); });
    });
  }
  for (const std::string &warning : sources.warnings()) say(warning);
  Output out;
  if (options.json) {
    ordered_json json;
    json["schema"] = "cairn.check/1";
    json["file"] = valid_utf8(options.file);
    json["kinds"] = ordered_json::array();
    for (size_t i = 0; i < check::kKinds; ++i) {
      if (kinds->has(static_cast<Kind>(i))) json["kinds"].push_back(check::name_of(static_cast<Kind>(i)));
    }
    json["calls"] = found->calls;
    json["repeated_calls"] = found->repeated;
    json["not_judged"] = found->left_out;
    json["more"] = found->more;
    json["findings"] = ordered_json::array();
    for (const Finding &finding : found->findings) json["findings"].push_back(finding_json(finding, *found));
    out.write(json.dump(2) + "\n");
  } else if (options.csv) {
    for (const std::string &line : found->left_out) say(line);
    ordered_json rows = ordered_json::array();
    for (const Finding &finding : found->findings) rows.push_back(finding_json(finding, *found));
    out.keep_lines();
    out.write(csv_of(rows, {"kind", "sure", "text", "count", "ranks", "call.function", "call.site", "call.file",
                            "call.line", "first.rank", "first.call", "other_call.function", "other_call.site",
                            "other_call.file", "other_call.line", "other_first.rank", "other_first.call"}));
  } else {
    for (const std::string &line : found->left_out) say(line);
    const uint64_t most = options.filter.limit.value_or(UINT64_MAX);
    uint64_t shown = 0;
    for (const Finding &finding : found->findings) {
      if (shown++ < most) print(finding, *found, out);
    }
    const auto sure = static_cast<uint64_t>(std::count_if(found->findings.begin(), found->findings.end(),
                                                          [](const Finding &finding) { return finding.sure; }));
    const uint64_t perhaps = found->findings.size() - sure;
    if (found->findings.empty()) {
      out.write("nothing found\n");
    } else {
      out.write(plural(sure, "fault") + (perhaps == 0 ? "" : fmt::format(", and perhaps {} more", perhaps)) + "\n");
    }
    if (found->more != 0) say(fmt::format("{} more faults are not told apart", grouped(found->more)));
  }
  const int code = out.finish();
  return code == kFine && !found->findings.empty() ? kNegative : code;
}

}  // namespace

Action declare_check(Options &verb) {
  auto options = std::make_shared<CheckOptions>();
  add_file(verb, *options);
  verb.text("--kinds", options->kinds, "Only these kinds of faults, as in types,buffers; ^leaks leaves one out",
            "KINDS", kind_names());
  verb.text("--rank", options->filter.ranks, "Only faults that these ranks have a part in, as in 0-7,12", "LIST");
  verb.number("--limit", options->filter.limit, "Show at most N faults", "N");
  verb.flag("--every-call", options->every_call, "Go through every call, also in turns of loops that are equal");
  add_csv_and_json(verb, *options, "a line for each fault");
  return [options] { return check_run(*options); };
}

}  // namespace cairn::cli
