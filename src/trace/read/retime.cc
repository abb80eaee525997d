#include "trace/read/retime.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "timing/rank_times.h"
#include "trace/model/losses.h"
#include "trace/read/call_times.h"
#include "trace/read/edit.h"
#include "trace/read/exactness.h"
#include "trace/read/trace_body.h"

namespace cairn::trace {
namespace {

/// The times of one sequence in the new mode.
class Rewritten {
 public:
  Rewritten(const Trace &trace, const SequenceView &view, const timing::Mode &mode, const BoundOf &bound_of)
      : trace_(trace), view_(view), mode_(mode), bound_of_(bound_of) {}

  /// Of each row of the class; of each function, into `sums`; of the gaps at each site, where the mode keeps them.
  Result<std::vector<timing::CallStats>> statistics(std::map<uint32_t, uint64_t> *sums, SiteGaps *gaps) {
    const std::vector<uint32_t> &sites = trace_.body().part->classes[view_.class_index].sites;
    bool begun = false;
    std::vector<timing::CallStats> stats(trace_.class_view(view_.class_index).rows);
    auto done = for_each([&](const CallReader &reader, grammar::Symbol call, const timing::PlacedTime &placed) {
      timing::CallStats &of_row = stats[reader.class_row(call)];
      const uint64_t ns = placed.time.duration;
      of_row.minimum = of_row.count == 0 ? ns : std::min(of_row.minimum, ns);
      of_row.maximum = std::max(of_row.maximum, ns);
      ++of_row.count;
      of_row.sum += ns;
      ++of_row.histogram[static_cast<size_t>(timing::CallStats::bucket(ns))];
      const Row &called = reader.call(call);
      (*sums)[called.function] += ns;
      if (!mode_.gaps || called.depth != 0) return;
      timing::GapStats gap;
      gap.add(placed.time.gap);
      // As recorders count: there is none before the first call.
      if (begun && called.site != 0 && called.site <= sites.size()) gaps->add(sites[called.site - 1], gap);
      begun = true;
    });
    if (!done) return tl::unexpected(done.error());
    return stats;
  }

  Result<Bytes> stream(Retimed *result) {
    std::map<RowGroup, uint32_t> numbers;
    std::vector<uint64_t> bounds;
    std::vector<uint32_t> groups;
    std::vector<timing::CallTime> times;
    std::vector<uint32_t> depths;
    timing::EndsByDepth<uint64_t> ends;
    auto done = for_each([&](const CallReader &reader, grammar::Symbol call, const timing::PlacedTime &placed) {
      const Row &row = reader.call(call);
      const auto next = static_cast<uint32_t>(numbers.size());
      const auto [group, added] = numbers.try_emplace(group_of_row(row), next);
      if (added) bounds.push_back(bound_of_(view_.class_index, row));
      if (added) depths.push_back(row.depth);
      groups.push_back(group->second);
      // Not the gap that was coded: earlier versions counted those of nested calls otherwise (timing/stream.h).
      const uint64_t before = ends.before(row.depth);
      times.push_back({placed.begin_ns - std::min(before, placed.begin_ns), placed.time.duration});
      ends.ended(row.depth, placed.begin_ns + std::min(placed.time.duration, UINT64_MAX - placed.begin_ns));
    });
    if (!done) return tl::unexpected(done.error());
    result->before.add(size_);
    return timing::encode_stream(mode_, groups, bounds, std::move(times), &result->after, depths);
  }

 private:
  template <typename Take>
  Result<void> for_each(Take take) {
    Result<CallTimes> times = CallTimes::of(trace_, view_);
    if (!times) return tl::unexpected(times.error());
    size_ = times->size();
    CallReader reader(trace_, view_);
    for (uint64_t i = 0; i < times->count(); ++i) {
      const grammar::Symbol call = reader.next();
      const Result<timing::PlacedTime> placed = times->at(i);
      if (!placed) return tl::unexpected(placed.error());
      take(reader, call, *placed);
    }
    return {};
  }

  const Trace &trace_;
  SequenceView view_;
  const timing::Mode &mode_;
  const BoundOf &bound_of_;
  timing::StreamSize size_;
};

bool is_kept(const StoredSection &section) {
  const auto kind = static_cast<SectionKind>(section.kind);
  return is_gpu(section) || kind == SectionKind::source || kind == SectionKind::corrections;
}

Error not_possible(const std::string &what, const std::string &hint) {
  return {ErrorKind::usage, what, {}, Error::kNoOffset, hint};
}

/// Whether times in the mode that the trace has can become times, or statistics, of another.
Result<void> check(const Trace &trace, const timing::Setting &setting) {
  const timing::Mode *own = timing::mode_named(trace.run().timing);
  const std::string_view name = setting.mode->name;
  if (timing::keeps_nothing(name)) return {};
  if (own != nullptr && own->statistics && setting.mode->statistics) {
    return tl::unexpected(not_possible("the times of this trace are statistics already", "nothing is to be done"));
  }
  if (own == nullptr || own->decode == nullptr) {
    return tl::unexpected(not_possible("this trace has no times of single calls", "record with --timing lossless"));
  }
  if (setting.mode->missing != nullptr && setting.mode->missing() != nullptr) {
    return fail(ErrorKind::environment, "this is " + std::string(setting.mode->missing()));
  }
  if (own->bounds != timing::Bounds::none && setting.mode->decode != nullptr) {
    return tl::unexpected(
        not_possible("the times of this trace are within a bound already (" + trace.run().timing + ")",
                     "they can become stats or off; record with --timing lossless for any other"));
  }
  return {};
}

void note_bound(const std::string &within, ValuesColumn *losses) {
  std::vector<Bytes> each;
  for (uint64_t place = 0; place < losses->size(); ++place) {
    const Bytes &own = losses->at(place);
    std::vector<Loss> all = read_losses(std::string(own.begin(), own.end()));
    all.push_back({std::string(kOfBoundedTimes) + within});
    const std::string text = write_losses(all);
    each.emplace_back(text.begin(), text.end());
  }
  *losses = ValuesColumn::of_each(each);
}

}  // namespace

Result<Retimed> retimed(const Trace &trace, const timing::Setting &setting, const BoundOf &bound_of) {
  if (auto possible = check(trace, setting); !possible) return tl::unexpected(possible.error());
  Retimed result;
  Part::Body body = *trace.body().part;
  std::map<uint32_t, std::vector<uint64_t>> sums;
  const uint64_t ranks = body.ranks.size();
  body.gaps = {};
  for (ClassPart &part : body.classes) {
    part.times = {};
    part.stats.clear();
  }
  for (uint64_t place = 0; place < ranks; ++place) {
    const auto rank = body.ranks.at(place);
    std::map<uint32_t, uint64_t> own;
    for (const SequenceView &view : trace.sequences(rank)) {
      ClassPart &part = body.classes[view.class_index];
      Rewritten sequence(trace, view, *setting.mode, bound_of);
      if (setting.mode->decode != nullptr) {
        Result<Bytes> stream = sequence.stream(&result);
        if (!stream) return tl::unexpected(stream.error());
        if (!stream->empty()) timing::merge(&part.times, {{rank, *std::move(stream)}});
      } else if (setting.mode->statistics) {
        const auto stats = sequence.statistics(&own, &body.gaps);
        if (!stats) return tl::unexpected(stats.error());
        if (part.stats.empty()) part.stats.push_back({part.ranks, std::vector<timing::RankStats>(stats->size()), {}});
        for (size_t row = 0; row < stats->size(); ++row) {
          part.stats[0].slots[row].merge(timing::RankStats((*stats)[row], rank));
        }
      }
    }
    for (const auto &[function, ns] : own) {
      std::vector<uint64_t> &column = sums[function];
      column.resize(ranks);
      column[place] = ns;
    }
  }
  body.sums = FunctionSums::of(sums);
  body.offset = FoldColumn::constant(kNoBlock, ranks);
  RunInfo run = trace.run();
  const std::string within = timing::exactness(run.timing);
  if (setting.mode->statistics && !within.empty()) note_bound(within, &body.degraded);
  run.timing = setting.text();
  run.merge.times = {};
  run.merge.times.size = result.after;
  const Result<Bytes> file = Edited::part(std::make_unique<Part::Body>(std::move(body))).to_file(run);
  if (!file) return tl::unexpected(file.error());
  auto stored = read_file(*file);
  if (!stored) return tl::unexpected(stored.error());
  // What is not of the ranks' calls stays as it is.
  for (const StoredSection &section : trace.body().stored) {
    const bool made =
        std::any_of(stored->begin(), stored->end(), [&](const auto &s) { return s.kind == section.kind; });
    if (!made && is_kept(section)) stored->push_back(section);
  }
  result.file = write_file({}, *stored);
  return result;
}

}  // namespace cairn::trace
