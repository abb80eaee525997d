#include "estimate/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <map>
#include <set>

#include "analyze/loops.h"
#include "analyze/overview.h"
#include "estimate/same_program.h"
#include "timing/mode.h"

namespace cairn::estimate {
namespace {

using Known = std::vector<std::pair<double, double>>;
constexpr size_t kLaws = 4;

double grown(Law law, double x) {
  switch (law) {
    case Law::constant:
      return 0;
    case Law::logarithmic:
      return std::log2(x);
    case Law::root:
      return std::sqrt(x);
    case Law::linear:
      return x;
  }
  return 0;
}

struct Fit {
  double a = 0;
  double b = 0;
  double squares = 0;  ///< the sum of what is missed
};

Fit fit(const Known &known, Law law) {
  const auto n = static_cast<double>(known.size());
  double sum_g = 0;
  double sum_y = 0;
  for (const auto &[x, y] : known) {
    sum_g += grown(law, x);
    sum_y += y;
  }
  double above = 0;
  double below = 0;
  for (const auto &[x, y] : known) {
    const double g = grown(law, x) - sum_g / n;
    above += g * (y - sum_y / n);
    below += g * g;
  }
  Fit found;
  // Of what does not grow the last says most.
  found.b = below > 0 ? std::max(0.0, above / below) : 0;
  found.a = found.b > 0 ? sum_y / n - found.b * sum_g / n : known.back().second;
  for (const auto &[x, y] : known) found.squares += std::pow(y - found.a - found.b * grown(law, x), 2);
  return found;
}

Law next(Law law, int by) {
  return static_cast<Law>(std::clamp(static_cast<int>(law) + by, 0, static_cast<int>(kLaws) - 1));
}

/// What has something for each rank.
bool is_of_ranks(const std::string &section) { return section == "clocks" || section == "sums" || section == "meta"; }

/// Turns of the time step of the ranks that are most; 0: there is none.
uint64_t steps_of(const analyze::Loop &loop) {
  if (loop.is_step) return loop.item->turns + loop.further_turns;
  for (const analyze::Loop &inner : loop.body) {
    if (const uint64_t found = steps_of(inner); found != 0) return found;
  }
  return 0;
}

Result<uint64_t> steps_of(const trace::Trace &trace) {
  const analyze::Sources sources(trace, analyze::Sources::Look::in_trace_only);
  const auto filter = analyze::make_filter({}, trace, sources);
  if (!filter) return tl::unexpected(filter.error());
  const analyze::LoopFinder finder(trace, sources);
  std::vector<analyze::KindOfRank> kinds = finder.kinds(*filter);
  if (kinds.empty() || !finder.find(&kinds.front())) return 0;
  return steps_of(kinds.front().all);
}

tl::unexpected<Error> wrong(const std::string &path, const std::string &what, const std::string &hint) {
  return tl::unexpected(Error{ErrorKind::usage, what, path, Error::kNoOffset, hint});
}

void add(Guess *sum, const Guess &more) {
  sum->value += more.value;
  sum->least += more.least;
  sum->most += more.most;
}

}  // namespace

const char *name_of(Law law) {
  constexpr std::array<const char *, kLaws> kNames = {"constant", "logarithm", "root", "linear"};
  return kNames[static_cast<size_t>(law)];
}

Guess guess(const Known &known, double x, Law likely) {
  assert(known.size() >= 2);
  const auto at = [&](Law law) {
    const Fit found = fit(known, law);
    return found.a + found.b * grown(law, x);
  };
  Guess result;
  const bool same =
      std::all_of(known.begin(), known.end(), [&](const auto &each) { return each.second == known[0].second; });
  if (same || fit(known, Law::linear).b == 0) {
    result.value = result.least = result.most = known.back().second;
    return result;
  }
  std::vector<double> range;
  if (known.size() == 2) {
    result.law = likely;
    range = {at(next(likely, -1)), at(next(likely, 1))};
    // Numbers become longer as ranks become more.
    constexpr double kMoreThanLinear = 0.25;
    const double last = known.back().second;
    if (likely == Law::linear) range.push_back(last + (1 + kMoreThanLinear) * (at(likely) - last));
  } else {
    std::array<double, kLaws> squares{};
    for (size_t i = 0; i < kLaws; ++i) squares[i] = fit(known, static_cast<Law>(i)).squares;
    const auto best = std::min_element(squares.begin(), squares.end());
    result.law = static_cast<Law>(best - squares.begin());
    // Some bytes of each section are chance.
    constexpr double kBytes = 2;
    const double near = 4 * *best + kBytes * kBytes * static_cast<double>(known.size());
    for (size_t i = 0; i < kLaws; ++i) {
      if (squares[i] <= near) range.push_back(at(static_cast<Law>(i)));
    }
  }
  result.value = at(result.law);
  range.push_back(result.value);
  result.least = *std::min_element(range.begin(), range.end());
  result.most = *std::max_element(range.begin(), range.end());
  return result;
}

Result<Estimate> estimate(std::vector<Recording> recordings, uint64_t ranks, std::optional<uint64_t> steps) {
  if (recordings.size() < 2) {
    return fail(ErrorKind::usage, "an estimate needs two recordings at least", "of different numbers of ranks");
  }
  std::map<const trace::Trace *, uint64_t> turns;
  std::set<uint32_t> sizes;
  std::set<uint64_t> lengths;
  const std::string &timing = recordings.front().trace->run().timing;
  for (const Recording &each : recordings) {
    if (each.trace->run().timing != timing) {
      return wrong(each.path,
                   fmt::format("its times are {}, and those of {} are {}", each.trace->run().timing,
                               recordings.front().path, timing),
                   "record all with the same --timing");
    }
    const Shared shared = compare_programs(*recordings.front().trace, *each.trace);
    if (shared.differ()) {
      const std::string &other = recordings.front().path;
      return wrong(each.path,
                   fmt::format("it is of another program than {}: {} is only in {}", other, shared.example,
                               shared.of_first ? other : each.path),
                   "give recordings of one program");
    }
    const auto found = steps_of(*each.trace);
    if (!found) return tl::unexpected(found.error());
    turns[each.trace] = *found;
    sizes.insert(each.trace->rank_count());
    lengths.insert(*found);
  }
  Estimate result;
  result.of_steps = sizes.size() == 1;
  if (sizes.size() > 1 && lengths.size() > 1) {
    return wrong(recordings.front().path, "the recordings differ in ranks and in the turns of their time step",
                 "give some that differ in one of both");
  }
  if ((result.of_steps ? lengths.size() : sizes.size()) != recordings.size()) {
    return wrong(recordings.front().path, "several recordings are of the same size",
                 "give one for each number of ranks");
  }
  const auto x_of = [&](const trace::Trace &trace) {
    return static_cast<double>(result.of_steps ? turns[&trace] : trace.rank_count());
  };
  std::sort(recordings.begin(), recordings.end(),
            [&](const Recording &a, const Recording &b) { return x_of(*a.trace) < x_of(*b.trace); });
  if (x_of(*recordings.front().trace) == 0) {
    return wrong(recordings.front().path, "it has no time step",
                 "recordings of one number of ranks must differ in steps");
  }
  if (result.of_steps && ranks != *sizes.begin()) {
    return wrong(recordings.front().path, fmt::format("all recordings are of {} ranks", *sizes.begin()),
                 "give some of other numbers of ranks");
  }
  if (steps && turns[recordings.back().trace] == 0) {
    return wrong(recordings.back().path, "it has no time step, so --steps says nothing", "leave it out");
  }
  const uint64_t last_steps = turns[recordings.back().trace];
  const auto x = static_cast<double>(result.of_steps ? steps.value_or(last_steps) : ranks);
  result.beyond = x / x_of(*recordings.back().trace);

  std::map<std::string, std::vector<uint64_t>> bytes;
  Known calls;
  Known memory;
  for (size_t i = 0; i < recordings.size(); ++i) {
    const trace::Trace &trace = *recordings[i].trace;
    const analyze::Overview told = analyze::outline(trace);
    result.ranks.push_back(trace.rank_count());
    result.steps.push_back(turns[&trace]);
    result.classes.push_back(static_cast<uint32_t>(told.classes));
    calls.emplace_back(x_of(trace),
                       static_cast<double>(told.calls) / static_cast<double>(std::max<uint64_t>(1, told.ranks)));
    memory.emplace_back(x_of(trace), static_cast<double>(told.peak_memory));
    for (const auto &[name, size] : trace.section_bytes()) {
      if (name == "total") continue;
      bytes[name].resize(recordings.size());
      bytes[name][i] = size;
    }
  }
  result.memory = guess(memory, x, Law::logarithmic);
  const bool single_times = timing::keeps_times(timing);
  const double longer = !result.of_steps && steps ? static_cast<double>(*steps) / static_cast<double>(last_steps) : 1;
  std::vector<std::pair<Known, Law>> fitted;
  for (auto &[name, sizes_of] : bytes) {
    Section section;
    section.name = name;
    section.bytes = std::move(sizes_of);
    Known known;
    for (size_t i = 0; i < recordings.size(); ++i) {
      known.emplace_back(x_of(*recordings[i].trace), static_cast<double>(section.bytes[i]));
    }
    const bool times = single_times && (name == "timing" || name == "blocks" || name == "offsets");
    const Law likely = is_of_ranks(name) && !result.of_steps ? Law::linear : Law::logarithmic;
    if (times) {
      // Bytes a call, as far as these differ, times calls.
      Guess a_rank = guess(calls, x, result.of_steps ? Law::linear : Law::logarithmic);
      const double to_all = static_cast<double>(ranks) * longer;
      std::vector<double> a_call;
      for (size_t i = 0; i < known.size(); ++i) a_call.push_back(known[i].second / (calls[i].second * result.ranks[i]));
      const auto [least, most] = std::minmax_element(a_call.begin(), a_call.end());
      section.guess.law = Law::linear;
      section.guess.value = a_call.back() * a_rank.value * to_all;
      section.guess.least = *least * a_rank.least * to_all;
      section.guess.most = *most * a_rank.most * to_all;
    } else {
      section.guess = guess(known, x, likely);
      fitted.emplace_back(known, likely);
    }
    add(&result.total, section.guess);
    result.sections.push_back(std::move(section));
  }
  std::stable_sort(result.sections.begin(), result.sections.end(),
                   [](const Section &a, const Section &b) { return a.guess.value > b.guess.value; });
  if (recordings.size() > 2) {
    double told = 0;
    double real = 0;
    for (auto &[known, likely] : fitted) {
      const auto [at, size] = known.back();
      known.pop_back();
      told += guess(known, at, likely).value;
      real += size;
    }
    if (real > 0) result.largest_off = told / real - 1;
  }
  return result;
}

}  // namespace cairn::estimate
