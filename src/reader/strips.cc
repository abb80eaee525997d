#include "reader/strips.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace cairn::reader {
namespace {

using timeline::Strip;
using timeline::Wanted;

bool same_lines(const Wanted &a, const Wanted &b) {
  return a.ranks == b.ranks && a.lines == b.lines && a.fold == b.fold;
}

/// First and last of each run of ranks.
void add_neighbours(const std::vector<uint32_t> &ranks, std::vector<uint32_t> *runs) {
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    runs->push_back(ranks[i]);
    runs->push_back(ranks[end - 1]);
    i = end;
  }
}

}  // namespace

Strips::Kept &Strips::kept(timeline::By by) {
  std::unique_ptr<Kept> &known = kept_[static_cast<size_t>(by)];
  if (known == nullptr) {
    known = std::make_unique<Kept>();
    known->kinds = timeline::kinds_of(trace_, sources_, by);
    known->timeline = std::make_unique<timeline::Timeline>(trace_, known->kinds);
  }
  return *known;
}

Result<Block> Strips::strip(timeline::By by, Wanted wanted) {
  Kept &of = kept(by);
  const uint64_t end_of_run = of.timeline->end_ns(wanted.ranks);
  if (end_of_run == 0) return fail(ErrorKind::usage, "none of these ranks called MPI");
  wanted.end_ns = std::min(wanted.end_ns, end_of_run);
  wanted.begin_ns = std::min(wanted.begin_ns, wanted.end_ns - 1);
  Result<Strip> strip = of.timeline->strip(wanted);
  if (!strip) return tl::unexpected(strip.error());
  Exactly exactly;
  const bool coarse = strip->too_many.has_value();
  double ranks_done = static_cast<double>(wanted.ranks.size());
  if (coarse) {
    if (of.overview == nullptr || !same_lines(of.wanted, wanted)) {
      of.overview.reset();
      of.wanted = wanted;
      of.overview = std::make_unique<timeline::Overview>(of.timeline.get(), wanted);
      of.complete = false;
    }
    if (!of.complete) {
      const Result<bool> more = of.overview->advance(wanted.most_calls);
      if (!more) return tl::unexpected(more.error());
      of.complete = !*more;
    }
    ranks_done = static_cast<double>(of.overview->ranks_done());
    strip = of.overview->strip(wanted.begin_ns, wanted.end_ns, wanted.columns);
  }
  const std::vector<double> numbers = {static_cast<double>(strip->axis),
                                       static_cast<double>(end_of_run),
                                       static_cast<double>(strip->edges.begin_ns),
                                       static_cast<double>(strip->edges.end_ns),
                                       static_cast<double>(strip->edges.columns),
                                       coarse ? 1.0 : 0.0,
                                       ranks_done,
                                       static_cast<double>(wanted.ranks.size()),
                                       exactly(strip->steps)};
  std::vector<uint32_t> ends;
  std::vector<uint32_t> runs;
  std::vector<double> ns(strip->ns.size());
  const size_t numbers_of_line = strip->edges.columns * strip->kinds;
  for (size_t line = 0; line < strip->lines(); ++line) {
    add_neighbours(strip->ranks[line], &runs);
    ends.push_back(static_cast<uint32_t>(runs.size() / 2));
    const auto ranks = static_cast<double>(strip->ranks[line].size());
    for (size_t i = line * numbers_of_line; i < (line + 1) * numbers_of_line; ++i) {
      ns[i] = static_cast<double>(strip->ns[i]) / ranks;
    }
  }
  if (const Result<void> done = exactly.done(); !done) return tl::unexpected(done.error());
  Block block;
  block.reserve(ns.size() * sizeof(double));
  block.numbers(numbers);
  block.texts(of.kinds.names);
  block.numbers(ends);
  block.numbers(runs);
  block.numbers(ns);
  return block;
}

Result<Block> Strips::drawn(timeline::By by, uint32_t rank, uint32_t thread, uint64_t begin_ns, uint64_t end_ns,
                            size_t most) {
  const auto calls = kept(by).timeline->calls(rank, thread, begin_ns, end_ns, most);
  if (!calls) return tl::unexpected(calls.error());
  Exactly exactly;
  std::vector<double> index;
  std::vector<double> begin;
  std::vector<double> end;
  std::vector<uint32_t> kind;
  std::vector<uint32_t> group;
  std::vector<uint32_t> depth;
  for (const timeline::Call &call : calls->all) {
    index.push_back(exactly(call.index));
    begin.push_back(static_cast<double>(call.begin_ns));
    end.push_back(static_cast<double>(call.end_ns));
    kind.push_back(call.kind);
    group.push_back(groups_.of(call.class_index, call.row));
    depth.push_back(call.depth);
  }
  if (const Result<void> done = exactly.done(); !done) return tl::unexpected(done.error());
  const double more = calls->more ? 1 : 0;
  Block block;
  block.numbers(index);
  block.numbers(begin);
  block.numbers(end);
  block.numbers(kind);
  block.numbers(group);
  block.numbers(depth);
  block.numbers(std::span<const double>(&more, 1));
  return block;
}

}  // namespace cairn::reader
