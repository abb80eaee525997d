#include "timeline/strip.h"

#include <algorithm>

#include "base/in_order.h"
#include "trace/read/class_structure.h"

namespace cairn::timeline {

Timeline::Timeline(const trace::Trace &trace, const Kinds &kinds)
    : trace_(trace), kinds_(kinds), axis_(axis_of(trace)), shares_(trace, axis_) {}

std::optional<size_t> Timeline::shape_of(uint32_t rank) {
  if (shapes_.empty()) {
    std::map<Shape, uint32_t> numbers;
    for (const uint32_t each : trace_.ranks()) {
      Shape shape;
      for (const trace::SequenceView &sequence : trace_.sequences(each)) shape.push_back(sequence.class_index);
      const auto [known, fresh] = numbers.try_emplace(std::move(shape), static_cast<uint32_t>(shapes_.size()));
      if (fresh) shapes_.push_back(known->first);
      shape_of_rank_.resize(each, UINT32_MAX);  // ranks ascend
      shape_of_rank_.push_back(known->second);
    }
  }
  if (rank >= shape_of_rank_.size() || shape_of_rank_[rank] == UINT32_MAX) return std::nullopt;
  return shape_of_rank_[rank];
}

std::shared_ptr<ClassAxis> Timeline::class_axis(uint32_t class_index) {
  std::shared_ptr<ClassAxis> &axis = classes_[class_index];
  if (axis) return axis;
  axis = std::make_shared<ClassAxis>(trace::class_structure(trace_, class_index), shares_.of(class_index));
  std::shared_ptr<ClassAxis> made = axis;
  if (kept_bytes_ + made->bytes() > kKeptBytes) {
    classes_.clear();
    kept_bytes_ = 0;
    classes_[class_index] = made;
  }
  kept_bytes_ += made->bytes();
  lengths_[class_index] = made->length();
  return made;
}

Ticks Timeline::length_of(uint32_t class_index) {
  const auto known = lengths_.find(class_index);
  return known != lengths_.end() ? known->second : class_axis(class_index)->length();
}

template <typename Each>
void Timeline::each_class(const Shape &shape, const Each &each) {
  Ticks begin = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    const uint32_t thread = trace::class_structure(trace_, shape[i]).thread;
    if (i != 0 && thread != trace::class_structure(trace_, shape[i - 1]).thread) begin = 0;
    each(shape[i], begin);
    begin += length_of(shape[i]);
  }
}

uint64_t Timeline::end_ns(const std::vector<uint32_t> &ranks) {
  uint64_t end = 0;
  if (axis_ == AxisKind::measured) {
    for (const uint32_t rank : ranks) {
      end = std::max(end, trace_.place_on_axis(rank).of(trace_.rank_info(rank).wall_ns));
    }
    return end;
  }
  std::vector<bool> seen;
  for (const uint32_t rank : ranks) {
    const std::optional<size_t> shape = shape_of(rank);
    if (!shape) continue;
    seen.resize(shapes_.size());
    if (seen[*shape]) continue;
    seen[*shape] = true;
    each_class(shapes_[*shape], [&](uint32_t class_index, Ticks begin) {
      constexpr Ticks kPart = ticks_of(1) - 1;  // of a ns
      end = std::max(end, ns_of(begin + length_of(class_index) + kPart));
    });
  }
  return end;
}

Edges Timeline::edges_of(const Wanted &wanted) {
  Edges edges;
  edges.columns = std::max<size_t>(1, wanted.columns);
  edges.begin_ns = std::min<uint64_t>(wanted.begin_ns, INT64_MAX);
  edges.end_ns = wanted.end_ns == UINT64_MAX ? end_ns(wanted.ranks) : std::min<uint64_t>(wanted.end_ns, INT64_MAX);
  // Edges need a length that is no less than the columns.
  edges.end_ns = std::max(edges.end_ns, edges.begin_ns + edges.columns);
  return edges;
}

Timeline::Lines Timeline::lines_of(const Wanted &wanted) {
  Lines lines;
  const size_t ranks = wanted.ranks.size();
  const size_t most = std::max<size_t>(1, wanted.lines);
  std::vector<size_t> number(ranks);  // of what is not taken apart
  size_t numbers = ranks;
  if (wanted.fold == Fold::classes) {
    std::map<size_t, size_t> of_shape;  // numbered as they come
    for (size_t i = 0; i < ranks; ++i) {
      number[i] = of_shape.try_emplace(shape_of(wanted.ranks[i]).value_or(SIZE_MAX), of_shape.size()).first->second;
    }
    numbers = of_shape.size();
  } else {
    for (size_t i = 0; i < ranks; ++i) number[i] = i;
  }
  lines.ranks.resize(std::min(numbers, most));
  for (size_t i = 0; i < ranks; ++i) {
    const size_t line = number[i] * lines.ranks.size() / numbers;
    lines.of_rank.push_back(line);
    lines.ranks[line].push_back(wanted.ranks[i]);
  }
  return lines;
}

std::map<size_t, std::vector<Timeline::InLine>> Timeline::shapes_of(const Wanted &wanted, const Lines &lines) {
  std::map<size_t, std::vector<InLine>> found;
  for (size_t i = 0; i < wanted.ranks.size(); ++i) {
    const std::optional<size_t> shape = shape_of(wanted.ranks[i]);
    if (!shape) continue;
    std::vector<InLine> &in_lines = found[*shape];
    const size_t line = lines.of_rank[i];
    const auto known =
        std::find_if(in_lines.rbegin(), in_lines.rend(), [&](const InLine &in) { return in.line == line; });
    if (known == in_lines.rend()) {
      in_lines.push_back({line, 1});
    } else {
      ++known->ranks;
    }
  }
  return found;
}

void Timeline::add_shape(const Shape &shape, const std::vector<InLine> &in_lines, Strip *strip) {
  const size_t columns = strip->edges.columns;
  const size_t kinds = strip->kinds;
  std::vector<Ticks> cells(columns * kinds);
  each_class(shape, [&](uint32_t class_index, Ticks begin) {
    const std::shared_ptr<ClassAxis> axis = class_axis(class_index);
    const uint64_t before = axis->steps();
    axis->fill(begin, strip->edges, kinds_.of_row[class_index], kinds, &cells);
    strip->steps += axis->steps() - before;
  });
  // Sums up to each edge are rounded, not columns: so that these add up to the whole.
  for (const InLine &in : in_lines) {
    uint64_t *line = strip->ns.data() + in.line * columns * kinds;
    for (size_t kind = 0; kind < kinds; ++kind) {
      Ticks sum = 0;
      for (size_t cell = kind; cell < cells.size(); cell += kinds) {
        if (cells[cell] == 0) continue;
        const uint64_t before = ns_of(sum);
        sum += cells[cell] * in.ranks;
        line[cell] += ns_of(sum) - before;
      }
    }
  }
}

void Timeline::keep(const std::vector<uint32_t> &ranks) {
  std::erase_if(ranks_, [&](const auto &known) {
    return ranks_.size() + ranks.size() > kKeptRanks && !std::binary_search(ranks.begin(), ranks.end(), known.first);
  });
  for (const uint32_t rank : ranks) {
    std::unique_ptr<RankCalls> &calls = ranks_[rank];
    if (!calls) calls = std::make_unique<RankCalls>(trace_, rank);
  }
}

Result<std::optional<uint64_t>> Timeline::too_many(const Wanted &wanted, const Edges &edges) {
  if (wanted.most_calls == UINT64_MAX) return std::nullopt;
  uint64_t calls = 0;
  for (size_t i = 0; i < wanted.ranks.size(); ++i) {
    const auto kept = ranks_.find(wanted.ranks[i]);
    RankCalls alone(trace_, wanted.ranks[i]);
    const auto within = (kept != ranks_.end() ? *kept->second : alone).calls_within(edges.begin_ns, edges.end_ns);
    if (!within) return tl::unexpected(within.error());
    calls += *within;
    if (calls <= wanted.most_calls) continue;
    // The ranks that were not looked at are taken for as many.
    return static_cast<uint64_t>(static_cast<double>(calls) * static_cast<double>(wanted.ranks.size()) /
                                 static_cast<double>(i + 1));
  }
  return std::nullopt;
}

Result<void> Timeline::add_measured(const Wanted &wanted, const Lines &lines, Strip *strip) {
  struct Alone {
    std::vector<uint64_t> cells;
    uint64_t walked = 0;
  };
  const size_t cells = strip->edges.columns * strip->kinds;
  const bool kept = wanted.ranks.size() <= kKeptRanks;
  std::optional<Error> error;
  in_order(
      wanted.ranks.size(),
      [&](size_t i) -> Result<Alone> {
        Alone alone;
        alone.cells.resize(cells);
        std::optional<RankCalls> calls;
        if (!kept) calls.emplace(trace_, wanted.ranks[i]);
        RankFill fill(calls ? &*calls : ranks_.at(wanted.ranks[i]).get(), strip->edges, kinds_, alone.cells.data());
        if (!kept) fill.once();
        if (auto done = fill.go_on(UINT64_MAX); !done) return tl::unexpected(done.error());
        alone.walked = fill.walked();
        return alone;
      },
      [&](size_t i, const Result<Alone> &alone) {
        if (!alone) {
          error = alone.error();
          return false;
        }
        uint64_t *line = strip->ns.data() + lines.of_rank[i] * cells;
        for (size_t cell = 0; cell < cells; ++cell) line[cell] += alone->cells[cell];
        strip->steps += alone->walked;
        return true;
      });
  if (error) return tl::unexpected(*std::move(error));
  return {};
}

Result<Strip> Timeline::strip(const Wanted &wanted) {
  Strip strip;
  strip.axis = axis_;
  strip.kinds = kinds_.count();
  strip.edges = edges_of(wanted);
  Lines lines = lines_of(wanted);
  if (axis_ == AxisKind::measured) {
    if (wanted.ranks.size() <= kKeptRanks) keep(wanted.ranks);
    auto many = too_many(wanted, strip.edges);
    if (!many) return tl::unexpected(many.error());
    strip.too_many = *many;
  }
  if (!strip.too_many) {
    strip.ns.resize(lines.ranks.size() * strip.edges.columns * strip.kinds);
    if (axis_ == AxisKind::measured) {
      if (auto done = add_measured(wanted, lines, &strip); !done) return tl::unexpected(done.error());
    } else {
      for (const auto &[shape, in_lines] : shapes_of(wanted, lines)) add_shape(shapes_[shape], in_lines, &strip);
    }
  }
  strip.ranks = std::move(lines.ranks);
  return strip;
}

Result<std::vector<Timeline::SequenceOfThread>> Timeline::sequences_of(uint32_t rank, uint32_t thread) {
  std::vector<SequenceOfThread> found;
  const std::vector<trace::SequenceView> sequences = trace_.sequences(rank);
  if (axis_ == AxisKind::measured) {
    if (!ranks_.contains(rank)) keep({rank});
  } else if (!made_.contains(rank)) {
    if (made_.size() >= kKeptRanks) made_.clear();
    std::vector<std::unique_ptr<MadeCalls>> &made = made_[rank];
    Shape shape;
    for (const trace::SequenceView &sequence : sequences) shape.push_back(sequence.class_index);
    each_class(shape, [&](uint32_t class_index, Ticks begin) {
      made.push_back(std::make_unique<MadeCalls>(trace_, sequences[made.size()], class_axis(class_index), begin));
    });
  }
  uint64_t calls = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (sequences[i].thread != thread) continue;
    SequenceOfThread &of = found.emplace_back();
    of.class_index = sequences[i].class_index;
    of.first_call = calls;
    if (axis_ == AxisKind::measured) {
      const auto opened = ranks_[rank]->open(i);
      if (!opened) return tl::unexpected(opened.error());
      of.calls = *opened;
    } else {
      of.calls = made_[rank][i].get();
    }
    calls += of.calls->count();
  }
  return found;
}

Call Timeline::call_of(const SequenceOfThread &sequence, const SequenceCalls::Call &call) const {
  return {sequence.first_call + call.index,
          call.begin_ns,
          call.end_ns,
          sequence.class_index,
          call.row,
          kinds_.of_row[sequence.class_index][call.row],
          call.depth};
}

Result<Calls> Timeline::calls(uint32_t rank, uint32_t thread, uint64_t begin_ns, uint64_t end_ns, size_t most) {
  const auto sequences = sequences_of(rank, thread);
  if (!sequences) return tl::unexpected(sequences.error());
  Calls found;
  for (const SequenceOfThread &sequence : *sequences) {
    sequence.calls->seek(sequence.calls->near(begin_ns));
    for (;;) {
      const auto next = sequence.calls->next();
      if (!next) return tl::unexpected(next.error());
      if (!*next) break;
      const SequenceCalls::Call &call = **next;
      if (call.begin_ns >= end_ns && call.depth == 0) return found;
      if (call.begin_ns >= end_ns || (call.end_ns <= begin_ns && call.begin_ns < begin_ns)) continue;
      found.more = found.all.size() == most;
      if (found.more) return found;
      found.all.push_back(call_of(sequence, call));
    }
  }
  return found;
}

Result<std::optional<Call>> Timeline::call_after(uint32_t rank, uint32_t thread, uint64_t ns) {
  const auto sequences = sequences_of(rank, thread);
  if (!sequences) return tl::unexpected(sequences.error());
  for (const SequenceOfThread &sequence : *sequences) {
    sequence.calls->seek(sequence.calls->near(ns));
    for (;;) {
      const auto next = sequence.calls->next();
      if (!next) return tl::unexpected(next.error());
      if (!*next) break;
      if ((*next)->end_ns > ns) return call_of(sequence, **next);
    }
  }
  return std::nullopt;
}

Result<std::optional<Call>> Timeline::call(uint32_t rank, uint32_t thread, uint64_t index) {
  const auto sequences = sequences_of(rank, thread);
  if (!sequences) return tl::unexpected(sequences.error());
  for (size_t i = sequences->size(); i-- > 0;) {
    const SequenceOfThread &sequence = (*sequences)[i];
    if (index < sequence.first_call) continue;
    sequence.calls->seek(index - sequence.first_call);
    const auto next = sequence.calls->next();
    if (!next) return tl::unexpected(next.error());
    if (!*next) return std::nullopt;
    return call_of(sequence, **next);
  }
  return std::nullopt;
}

Result<uint64_t> Timeline::call_count(uint32_t rank, uint32_t thread) {
  const auto sequences = sequences_of(rank, thread);
  if (!sequences) return tl::unexpected(sequences.error());
  return sequences->empty() ? 0 : sequences->back().first_call + sequences->back().calls->count();
}

Result<Strip> strip_of(const trace::Trace &trace, const Wanted &wanted) {
  const Kinds kinds = kinds_of(trace, analyze::Sources(trace, analyze::Sources::Look::in_trace_only), By::sort);
  return Timeline(trace, kinds).strip(wanted);
}

}  // namespace cairn::timeline
