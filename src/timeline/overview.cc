#include "timeline/overview.h"

#include <algorithm>

namespace cairn::timeline {

Overview::Overview(Timeline *timeline, Wanted wanted) : timeline_(*timeline), wanted_(std::move(wanted)) {
  wanted_.lines = std::min(std::max<size_t>(1, wanted_.lines), kMostLines);
  lines_ = timeline_.lines_of(wanted_);
  all_.axis = timeline_.axis();
  all_.kinds = timeline_.kinds().count();
  const size_t lines = std::max<size_t>(1, lines_.ranks.size());
  wanted_.begin_ns = 0;
  wanted_.end_ns = UINT64_MAX;
  wanted_.columns = std::clamp<size_t>(kMostBytes / sizeof(uint64_t) / (lines * all_.kinds), 1, kMostColumns);
  all_.edges = timeline_.edges_of(wanted_);
  all_.ns.resize(lines_.ranks.size() * all_.edges.columns * all_.kinds);
  all_.ranks = lines_.ranks;
  if (all_.axis != AxisKind::measured) shapes_ = timeline_.shapes_of(wanted_, lines_);
}

Result<bool> Overview::advance(uint64_t most) {
  const uint64_t until = most > UINT64_MAX - all_.steps ? UINT64_MAX : all_.steps + most;
  while (!shapes_.empty() && all_.steps < until) {
    const auto &[shape, in_lines] = *shapes_.begin();
    timeline_.add_shape(timeline_.shapes_[shape], in_lines, &all_);
    ++all_.steps;
    for (const Timeline::InLine &in : in_lines) done_ += in.ranks;
    shapes_.erase(shapes_.begin());
  }
  if (all_.axis != AxisKind::measured) return !shapes_.empty();
  while (done_ < ranks() && all_.steps < until) {
    if (!fill_) {
      calls_.emplace(timeline_.trace_, wanted_.ranks[done_]);
      const size_t first = lines_.of_rank[done_] * all_.edges.columns * all_.kinds;
      fill_.emplace(&*calls_, all_.edges, timeline_.kinds_, all_.ns.data() + first);
      fill_->once();
    }
    const uint64_t before = fill_->walked();
    const auto more = fill_->go_on(until - all_.steps);
    if (!more) return tl::unexpected(more.error());
    all_.steps += fill_->walked() - before;
    if (*more) continue;
    fill_.reset();
    calls_.reset();
    ++done_;
  }
  return done_ < ranks();
}

Strip Overview::strip(uint64_t begin_ns, uint64_t end_ns, size_t columns) const {
  Strip strip;
  strip.axis = all_.axis;
  strip.kinds = all_.kinds;
  strip.ranks = all_.ranks;
  strip.edges = {begin_ns, end_ns, std::max<size_t>(1, columns)};
  strip.edges.end_ns = std::max(end_ns, begin_ns + strip.edges.columns);
  strip.ns.resize(strip.lines() * strip.edges.columns * strip.kinds);
  /// A column of `all_`, and the part of it that lies before a moment.
  struct Moment {
    size_t column = 0;
    double part = 0;
  };
  std::vector<Moment> moments;
  for (size_t column = 0; column <= strip.edges.columns; ++column) {
    const uint64_t ns = std::max(strip.edges.at(column), all_.edges.begin_ns);
    Moment moment{all_.edges.columns, 0};
    if (ns < all_.edges.end_ns) {
      moment.column = all_.edges.column_of(ns);
      const uint64_t begin = all_.edges.at(moment.column);
      const uint64_t length = all_.edges.at(moment.column + 1) - begin;
      moment.part = static_cast<double>(ns - begin) / static_cast<double>(length);
    }
    moments.push_back(moment);
  }
  std::vector<uint64_t> whole(strip.kinds);  // columns of `all_` from the window's first on
  std::vector<uint64_t> before(strip.kinds);
  for (size_t line = 0; line < strip.lines(); ++line) {
    std::fill(whole.begin(), whole.end(), 0);
    size_t at = moments.front().column;
    for (size_t edge = 0; edge < moments.size(); ++edge) {
      const Moment &moment = moments[edge];
      for (; at < moment.column; ++at) {
        const std::span<const uint64_t> column = all_.at(line, at);
        for (size_t kind = 0; kind < strip.kinds; ++kind) whole[kind] += column[kind];
      }
      for (size_t kind = 0; kind < strip.kinds; ++kind) {
        uint64_t now = whole[kind];
        if (moment.part != 0) now += static_cast<uint64_t>(static_cast<double>(all_.at(line, at)[kind]) * moment.part);
        if (edge != 0) strip.ns[(line * strip.edges.columns + edge - 1) * strip.kinds + kind] = now - before[kind];
        before[kind] = now;
      }
    }
  }
  return strip;
}

}  // namespace cairn::timeline
