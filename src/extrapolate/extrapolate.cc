#include "extrapolate/extrapolate.h"

#include <fmt/format.h>

#include <algorithm>

#include "extrapolate/program_text.h"
#include "extrapolate/recording.h"
#include "extrapolate/times.h"
#include "trace/merge/part.h"
#include "trace/read/edit.h"

namespace cairn::extrapolate {
namespace {

using trace::Part;

/// Parts of ascending ranks, merged in a tree as ranks merge theirs.
class Tree {
 public:
  Result<void> add(Part part) {
    parts_.push_back(std::move(part));
    for (uint64_t n = ++added_; n % 2 == 0; n /= 2) {
      if (auto done = join(); !done) return done;
    }
    return {};
  }
  Result<Part> whole() {
    while (parts_.size() > 1) {
      if (auto done = join(); !done) return tl::unexpected(done.error());
    }
    return std::move(parts_.front());
  }

 private:
  Result<void> join() {
    Part right = std::move(parts_.back());
    parts_.pop_back();
    auto merged = Part::merge(std::move(parts_.back()), std::move(right));
    if (!merged) return tl::unexpected(merged.error());
    parts_.back() = *std::move(merged);
    return {};
  }
  std::vector<Part> parts_;
  uint64_t added_ = 0;
};

Result<void> check(const std::vector<Given> &given, const Target &target, bool by_scale) {
  if (given.size() < 2) {
    return fail(ErrorKind::usage, "one trace is not enough: what differs with the number of ranks cannot be seen in it",
                "give traces of the same program on two numbers of ranks or more; three tell far more");
  }
  for (const Given &each : given) {
    if (each.trace->run().jobs.empty()) continue;
    return fail(ErrorKind::usage, fmt::format("{} is of several jobs, joined", each.path),
                "give traces of one job each");
  }
  for (size_t i = 0; i + 1 < given.size(); ++i) {
    if (by_scale && given[i].trace->rank_count() != given[i + 1].trace->rank_count()) {
      return fail(ErrorKind::usage,
                  fmt::format("{} has {} ranks and {} has {}", given[i].path, given[i].trace->rank_count(),
                              given[i + 1].path, given[i + 1].trace->rank_count()),
                  "with --of, all traces must have as many ranks");
    }
    if (by_scale && given[i].scale == given[i + 1].scale) {
      return fail(ErrorKind::usage, fmt::format("--of says {} twice", given[i].scale),
                  "each trace needs a value of its own");
    }
    if (!by_scale && given[i].trace->rank_count() == given[i + 1].trace->rank_count()) {
      return fail(
          ErrorKind::usage,
          fmt::format("{} and {} both have {} ranks", given[i].path, given[i + 1].path, given[i].trace->rank_count()),
          "give traces of different numbers of ranks, or say with --of what else they differ in");
    }
  }
  const Given &least = given.front();
  if (!by_scale && target.ranks < least.trace->rank_count()) {
    return fail(ErrorKind::usage,
                fmt::format("{} ranks are fewer than the {} of {}, the smallest trace", target.ranks,
                            least.trace->rank_count(), least.path),
                "name more ranks with -n");
  }
  if (target.ranks > trace::kMaxRanks) return fail(ErrorKind::usage, "a trace holds at most 16,777,216 ranks");
  return {};
}

/// The functions and places that only one of the runs has say that these are different programs, unless few.
Result<void> check_programs(const std::vector<Run> &runs, const std::vector<Given> &given, const Catalogue &catalogue) {
  std::vector<std::vector<bool>> has(runs.size(), std::vector<bool>(catalogue.kinds().size()));
  for (size_t r = 0; r < runs.size(); ++r) {
    for (const std::vector<uint32_t> &calls : runs[r].calls) {
      for (const uint32_t call : calls) has[r][catalogue.kind_of(call)] = true;
    }
  }
  for (size_t r = 1; r < runs.size(); ++r) {
    size_t common = 0;
    size_t only = 0;
    uint32_t first = 0;
    for (uint32_t kind = 0; kind < catalogue.kinds().size(); ++kind) {
      if (has[r][kind] && has[r - 1][kind]) ++common;
      if (has[r][kind] != has[r - 1][kind] && only++ == 0) first = kind;
    }
    if (only > common) {
      const bool in_first = has[r - 1][first];
      return fail(ErrorKind::usage,
                  fmt::format("{} and {} are of different programs: {} is only in {}", given[r - 1].path, given[r].path,
                              catalogue.text(first), in_first ? given[r - 1].path : given[r].path),
                  "give traces of one program, built alike");
    }
  }
  return {};
}

/// Where all runs have a mesh of as many columns, what goes with its rows and what goes with the ranks is the same in
/// them, and another thing in a mesh of other columns.
std::string doubt_of_meshes(const std::vector<Run> &runs, uint32_t target) {
  const auto columns = [](uint32_t ranks) { return two_sides(ranks)[0]; };
  const int64_t all = columns(runs.front().ranks);
  const bool alike = std::all_of(runs.begin(), runs.end(), [&](const Run &run) { return columns(run.ranks) == all; });
  if (!alike || all < 2 || columns(target) == all) return {};
  return fmt::format(
      "in doubt: all of these runs are of {0} times some ranks, so what goes with the rows of a mesh "
      "may as well go with the ranks; a run on {1} ranks tells",
      all, (all + 1) * (all + 1));
}

std::vector<std::string> notes_of(const std::vector<Run> &runs, bool by_scale, uint32_t target,
                                  const Certainty &certainty, const std::optional<double> &residual) {
  std::vector<std::string> notes;
  std::string from;
  for (const Run &run : runs) from += fmt::format("{}{}", from.empty() ? "" : ", ", run.scale);
  notes.push_back(fmt::format("extrapolated from runs of {} {}", from, by_scale ? "(--of)" : "ranks"));
  // No note begins with a number: that would be how often (model/losses.h).
  notes.push_back(fmt::format("exact on all of these runs: {} rules, {} of them the same on all ranks", certainty.exact,
                              certainty.constant));
  if (certainty.addresses != 0) {
    notes.push_back(
        fmt::format("no rule, as on a rank of the largest run: the places of {} buffers", certainty.addresses));
  }
  constexpr size_t kMostTold = 12;
  for (size_t i = 0; i < certainty.drawn.size() && i < kMostTold; ++i) {
    notes.push_back("no rule, drawn from the largest run: " + certainty.drawn[i]);
  }
  if (certainty.drawn.size() > kMostTold) {
    notes.push_back(fmt::format("no rule, drawn from the largest run: another {}", certainty.drawn.size() - kMostTold));
  }
  if (residual) {
    notes.push_back(
        fmt::format("times are of curves that miss those of these runs by {:.1f} % in the mean", 100 * *residual));
  }
  if (!by_scale) {
    if (std::string doubt = doubt_of_meshes(runs, target); !doubt.empty()) notes.push_back(std::move(doubt));
  }
  return notes;
}

Bytes with_known_sources(Bytes bytes, const trace::Trace &largest) {
  auto made = trace::Trace::from_bytes(bytes, "");
  if (!made) return bytes;
  // The same modules by build-id: where the largest run's sources say a site is, it is.
  std::vector<std::pair<trace::Site, trace::Source>> sources;
  const std::vector<trace::Module> &modules = largest.modules();
  for (const trace::Site &site : made->all_sites()) {
    if (site.module >= made->modules().size()) continue;
    const trace::Module &module = made->modules()[site.module];
    const auto there = std::find_if(modules.begin(), modules.end(), [&](const trace::Module &other) {
      return other.build_id == module.build_id && other.path == module.path;
    });
    if (there == modules.end()) continue;
    trace::Site known = site;
    known.module = static_cast<uint32_t>(there - modules.begin());
    if (const std::optional<trace::Source> source = largest.source(known)) sources.emplace_back(site, *source);
  }
  return sources.empty() ? bytes : trace::with_sources(*made, sources);
}

}  // namespace

Result<Extrapolated> extrapolated(std::vector<Given> given, const Target &target) {
  const bool by_scale = target.scale != 0;
  std::stable_sort(given.begin(), given.end(), [&](const Given &a, const Given &b) {
    return by_scale ? a.scale < b.scale : a.trace->rank_count() < b.trace->rank_count();
  });
  if (auto done = check(given, target, by_scale); !done) return tl::unexpected(done.error());
  std::vector<const trace::Trace *> traces;
  traces.reserve(given.size());
  for (const Given &each : given) traces.push_back(each.trace);
  Catalogue catalogue(traces);
  std::vector<Run> runs;
  for (size_t i = 0; i < given.size(); ++i) {
    auto run = read_run(*given[i].trace, i, given[i].scale, &catalogue);
    if (!run) {
      Error error = run.error();
      error.path = given[i].path;
      return tl::unexpected(error);
    }
    runs.push_back(*std::move(run));
  }
  if (auto done = check_programs(runs, given, catalogue); !done) return tl::unexpected(done.error());
  auto program = Program::learn(runs, catalogue);
  if (!program) return tl::unexpected(program.error());
  const Times times = Times::of(runs, &catalogue);
  Extrapolated result;
  result.laws = laws_of(*program);
  result.certainty = program->certainty();
  if (times.known()) result.residual = times.residual();
  result.notes = notes_of(runs, by_scale, target.ranks, result.certainty, result.residual);
  std::vector<trace::Loss> losses;
  for (const std::string &note : result.notes) losses.push_back({note, 0, false, false});
  Tree tree;
  Peers peers(*program, target.ranks, by_scale ? target.scale : target.ranks);
  uint64_t wall = 0;
  for (uint32_t rank = 0; rank < target.ranks; ++rank) {
    const Coordinates of = Coordinates::of(rank, target.ranks, by_scale ? target.scale : target.ranks);
    RankRecording recording(*program, times.known() ? &times : nullptr, of, &peers);
    trace::ProcessRecord process = recording.record();
    process.losses = losses;
    result.failed += recording.failed();
    result.rounded += recording.rounded();
    wall = std::max(wall, process.wall_ns);
    auto part = Part::of(process);
    if (!part) return tl::unexpected(part.error());
    if (auto done = tree.add(*std::move(part)); !done) return tl::unexpected(done.error());
  }
  auto whole = tree.whole();
  if (!whole) return tl::unexpected(whole.error());
  const trace::Trace &largest = *runs.back().trace;
  trace::RunInfo run;
  run.command = largest.run().command;
  run.mpi = largest.run().mpi;
  run.recorder = largest.run().recorder;  // whose library that is, a replay asks
  run.timing = times.known() ? largest.run().timing : "none";
  run.status = "extrapolated";
  run.start_unix_ns = largest.run().start_unix_ns;
  run.wall_ns = wall;
  auto file = whole->to_file(run);
  if (!file) return tl::unexpected(file.error());
  result.file = with_known_sources(*std::move(file), largest);
  return result;
}

}  // namespace cairn::extrapolate
