#include "cli/wait_report.h"

#include <fmt/format.h>

#include "analyze/decode.h"
#include "cli/inspect.h"
#include "cli/reading.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"
#include "timing/setting.h"

namespace cairn::cli {
namespace {

nlohmann::ordered_json place_json(const waits::Place &place) {
  return {{"function", analyze::function_name(place.function)},
          {"site", valid_utf8(place.position.text())},
          {"file", valid_utf8(place.position.file)},
          {"line", place.position.line}};
}

Cell cell_of(const std::string &before, const waits::Place &place, nlohmann::ordered_json json) {
  const std::string head = before + analyze::function_name(place.function);
  const std::string where = place.position.short_text();
  if (where.empty()) return {head, std::move(json)};
  return {head + "  " + where, std::move(json), head.size() + 2 + place.position.brief().size()};
}

}  // namespace

Result<ChosenWaits> analyse_waits(const trace::Trace &trace, const std::string &verb,
                                  const analyze::FilterText &filter) {
  if (auto can = waits::can_analyse(trace, verb); !can) return tl::unexpected(can.error());
  const analyze::Sources sources(trace);
  for (const std::string &warning : sources.warnings()) say(warning);
  const auto chosen = analyze::make_filter(filter, trace, sources);
  if (!chosen) return tl::unexpected(chosen.error());
  say_missing_calls(trace, trace.ranks());
  Reading reading(trace);
  auto report = waits::analyse(trace, sources, *chosen);
  if (!report) return tl::unexpected(report.error());
  return ChosenWaits{*std::move(report), waits::chooses_victims(*chosen)};
}

Cell place_cell(const waits::Report &report, uint32_t place) {
  const waits::Place &of = report.places[place];
  return cell_of("", of, place_json(of));
}

Cell activity_cell(const waits::Report &report, waits::Activity activity) {
  if (activity == waits::kUnknownActivity) return {"unknown", {{"doing", "unknown"}, {"place", nullptr}}};
  const waits::Place &of = report.places[waits::place_of(activity)];
  const char *const words[] = {"outside MPI before ", "in other calls before ", "in ", "outside MPI after "};
  const waits::Doing doing = waits::doing(activity);
  return cell_of(words[static_cast<size_t>(doing)], of, {{"doing", word_of(doing)}, {"place", place_json(of)}});
}

void say_left_out(const waits::Report &report, const trace::Trace &trace) {
  const uint64_t left_out = report.counts.left_out();
  if (left_out != 0) {
    say(fmt::format("{} could not be matched, and {} in no sum here",
                    plural(left_out, "receive or collective call", "receives and collective calls"),
                    left_out == 1 ? "is" : "are"));
  }
  if (report.with_threads != 0) {
    say(
        fmt::format("{} MPI from several threads, whose times overlap: sums may exceed the run, and the critical path "
                    "misses what threads tell each other",
                    plural(report.with_threads, "rank calls", "ranks call")));
  }
  if (report.cut_short != 0) {
    say(fmt::format("{} cut short: the calls that they were in are in MPI until the end, and wait for nobody here",
                    plural(report.cut_short, "rank was", "ranks were")));
  }
  if (report.reversed != 0) {
    const bool exact = timing::exactness(trace.run().timing).empty();
    say(fmt::format("{} arrived before they were sent, {}", plural(report.reversed, "message"),
                    exact ? "by the clocks; `cairn repack --clocks` puts that right" : "by times that are not exact"));
  }
}

}  // namespace cairn::cli
