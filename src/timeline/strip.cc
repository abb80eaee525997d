#include "timeline/strip.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "analyze/message_calls.h"
#include "analyze/summary.h"
#include "base/in_order.h"
#include "spec/spec.h"
#include "trace/read/events.h"

namespace cairn::timeline {
namespace {

Doing sort_of(const spec::Function &function) {
  const std::string_view name = function.name;
  if (analyze::is_apart(function.id)) return Doing::init;
  if (name.starts_with("MPI_File_")) return Doing::files;
  bool window = name.starts_with("MPI_Win_");
  for (size_t i = 0; i < function.parameter_count; ++i) {
    const spec::Parameter &parameter = function.parameters[i];
    if (parameter.kind == spec::Kind::request && parameter.effect == spec::Effect::complete) return Doing::completion;
    window = window || parameter.kind == spec::Kind::window;
  }
  if (window) return Doing::one_sided;
  if (function.scope != 0) return Doing::collective;
  return analyze::is_message_call(function) ? Doing::messages : Doing::other;
}

/// Adds spans of time to a line's columns.
class Filling {
 public:
  Filling(const Strip &strip, Line *line) : strip_(strip), line_(*line) {}
  [[nodiscard]] uint64_t end_ns() const { return strip_.end_ns; }
  void add(uint64_t begin_ns, uint64_t end_ns, Doing doing) {
    begin_ns = std::max(begin_ns, strip_.begin_ns);
    end_ns = std::min(end_ns, strip_.end_ns);
    if (begin_ns >= end_ns) return;
    for (size_t column = column_of(begin_ns); begin_ns < end_ns; ++column) {
      const uint64_t until = std::min(end_ns, strip_.edge_ns(column + 1));
      line_.columns[column][static_cast<size_t>(doing)] += until - begin_ns;
      begin_ns = until;
    }
  }

 private:
  [[nodiscard]] size_t column_of(uint64_t ns) const {
    const double part =
        static_cast<double>(ns - strip_.begin_ns) / static_cast<double>(strip_.end_ns - strip_.begin_ns);
    size_t column =
        std::min(static_cast<size_t>(part * static_cast<double>(line_.columns.size())), line_.columns.size() - 1);
    while (strip_.edge_ns(column) > ns) --column;
    while (strip_.edge_ns(column + 1) <= ns) ++column;
    return column;
  }
  const Strip &strip_;
  Line &line_;
};

/// All calls of a rank that are nested in no other, and what lies between them.
Result<void> fill(const trace::Trace &trace, uint32_t rank, Filling *filling) {
  const bool one_thread = !trace.has_threads(rank);
  trace::Events events(trace, rank);
  std::map<uint32_t, uint64_t> ends;  ///< by thread
  while (const trace::Event *event = events.next()) {
    if (!event->timed || event->values->depth != 0) continue;
    const auto [last, first_of_thread] = ends.try_emplace(event->thread, event->begin_ns);
    filling->add(last->second, event->begin_ns, Doing::outside);
    filling->add(std::max(event->begin_ns, last->second), event->end_ns, doing_of(event->values->function));
    last->second = std::max(last->second, event->end_ns);
    // Calls of several threads stand in the order of their ends.
    if (one_thread && last->second >= filling->end_ns()) return {};
  }
  return events.end();
}

}  // namespace

const char *name_of(Doing doing) {
  constexpr const char *kNames[kDoings] = {"outside MPI", "messages", "completion", "collective",
                                           "one-sided",   "files",    "init",       "other"};
  return kNames[static_cast<size_t>(doing)];
}

Doing doing_of(uint32_t function) {
  static const std::vector<Doing> all = [] {
    std::vector<Doing> made;
    for (const spec::Function &each : spec::functions()) made.push_back(sort_of(each));
    return made;
  }();
  return function < all.size() ? all[function] : Doing::other;
}

uint64_t Strip::edge_ns(size_t column) const {
  const size_t columns = lines.empty() ? 1 : lines.front().columns.size();
  const __uint128_t length = end_ns - begin_ns;
  return begin_ns + static_cast<uint64_t>(length * column / columns);
}

Result<Strip> strip_of(const trace::Trace &trace, const Wanted &wanted) {
  Strip strip;
  strip.begin_ns = wanted.begin_ns;
  strip.end_ns = wanted.end_ns;
  if (strip.end_ns == UINT64_MAX) {
    strip.end_ns = strip.begin_ns;
    for (const uint32_t rank : wanted.ranks) {
      strip.end_ns = std::max(strip.end_ns, trace.place_on_axis(rank).of(trace.rank_info(rank).wall_ns));
    }
  }
  const size_t ranks = wanted.ranks.size();
  const size_t lines = std::min(ranks, std::max<size_t>(1, wanted.lines));
  // Edges need a length that is no less than the columns.
  strip.end_ns = std::max(strip.end_ns, strip.begin_ns + wanted.columns);
  strip.lines.resize(lines);
  for (Line &line : strip.lines) line.columns.resize(std::max<size_t>(1, wanted.columns));
  std::optional<Error> error;
  in_order(
      ranks,
      [&](size_t i) -> Result<Line> {
        Line alone;
        alone.columns.resize(strip.lines.front().columns.size());
        Filling filling(strip, &alone);
        if (auto done = fill(trace, wanted.ranks[i], &filling); !done) return tl::unexpected(done.error());
        return alone;
      },
      [&](size_t i, const Result<Line> &alone) {
        if (!alone) {
          error = alone.error();
          return false;
        }
        Line &line = strip.lines[i * lines / ranks];
        line.ranks.push_back(wanted.ranks[i]);
        for (size_t column = 0; column < line.columns.size(); ++column) {
          for (size_t doing = 0; doing < kDoings; ++doing) line.columns[column][doing] += alone->columns[column][doing];
        }
        return true;
      });
  if (error) return tl::unexpected(*std::move(error));
  return strip;
}

}  // namespace cairn::timeline
