#include "trace/read/join_jobs.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "timing/rank_times.h"
#include "trace/read/edit.h"
#include "trace/read/trace_body.h"

namespace cairn::trace {
namespace {

RankSet moved(const RankSet &ranks, uint32_t by) {
  RankSet result;
  for (const uint32_t rank : ranks.expand()) result.append(rank + by);
  return result;
}

void move_ranks(Stream *stream, uint32_t by) {
  for (StreamVariant &variant : stream->variants) variant.ranks = moved(variant.ranks, by);
}

void move_ranks(ClassPart *part, uint32_t by) {
  part->ranks = moved(part->ranks, by);
  for (Stream &stream : part->streams) move_ranks(&stream, by);
  move_ranks(&part->heap, by);
  for (StatsBlock &block : part->stats) {
    block.ranks = moved(block.ranks, by);
    for (timing::RankStats &slot : block.slots) slot.add_to_ranks(by);
  }
  for (timing::TimesOfRank &times : part->times) times.rank += by;
}

/// The part that a trace holds, with all times in it, and none in blocks.
Result<std::unique_ptr<Part::Body>> whole_part(const Trace &trace) {
  if (trace.damage()) return tl::unexpected(*trace.damage());
  auto body = std::make_unique<Part::Body>(*trace.body().part);
  for (ClassPart &part : body->classes) part.times.clear();
  for (const uint32_t rank : trace.ranks()) {
    for (const SequenceView &view : trace.sequences(rank)) {
      const Result<TimesBytes> times = trace.times_bytes(view);
      if (!times) return tl::unexpected(times.error());
      if (times->damage) return tl::unexpected(*times->damage);
      if (times->stream.empty()) continue;
      timing::merge(&body->classes[view.class_index].times,
                    {{rank, Bytes(times->stream.begin(), times->stream.end())}});
    }
  }
  body->offset = FoldColumn::constant(kNoBlock, body->ranks.size());
  body->set_keys();
  return body;
}

/// Ranks `first` on, of `size` in all, of the job with that number.
void move_job(Part::Body *body, uint32_t number, uint32_t first, uint32_t size) {
  body->size = size;
  body->ranks = moved(body->ranks, first);
  for (ClassPart &part : body->classes) {
    move_ranks(&part, first);
    // No class of another job is to be found equal.
    for (Hash128 *hash : {&part.key, &part.skeleton}) {
      ByteWriter own;
      own.fixed64(hash->low);
      own.fixed64(hash->high);
      own.varint(number);
      *hash = hash128(own.view());
    }
  }
}

/// Nobody compared this job's clocks with those of rank 0 of the first.
void set_apart(Part::Body *body) {
  const std::vector<Atom> known = body->clock_uncertainty.expand();
  body->clock_uncertainty = FoldColumn();
  for (const Atom each : known) body->clock_uncertainty.append(each == RankClock::kNone ? each : RankClock::kOwn);
}

/// Of the joined run. `start` and `end` of all.
RunInfo joined_run(const std::vector<const Trace *> &traces, std::vector<Job> jobs) {
  RunInfo run = traces.front()->run();
  int64_t end = run.start_unix_ns;
  for (const Trace *trace : traces) {
    const RunInfo &own = trace->run();
    run.start_unix_ns = std::min(run.start_unix_ns, own.start_unix_ns);
    end = std::max(end, own.start_unix_ns + static_cast<int64_t>(own.wall_ns));
    if (run.status == "complete") run.status = own.status;
  }
  run.wall_ns = static_cast<uint64_t>(end - run.start_unix_ns);
  run.merge = {};
  run.job.clear();
  run.spawned_by.clear();
  run.jobs = std::move(jobs);
  return run;
}

/// Source positions that the traces know, of the sites of `joined`.
std::vector<std::pair<Site, Source>> all_sources(const Trace &joined, const std::vector<const Trace *> &traces) {
  std::map<std::pair<std::string, uint64_t>, const Trace *> known;
  std::vector<std::pair<Site, Source>> sources;
  const auto number_of = [&](const Module &module) {
    const auto found = std::find_if(joined.modules().begin(), joined.modules().end(), [&](const Module &each) {
      return each.build_id == module.build_id && (each.path == module.path || !module.build_id.empty());
    });
    return static_cast<uint32_t>(found - joined.modules().begin());
  };
  for (const Trace *trace : traces) {
    std::vector<uint32_t> numbers;
    for (const Module &module : trace->modules()) numbers.push_back(number_of(module));
    for (const Site &site : trace->all_sites()) {
      auto source = trace->source(site);
      if (!source || numbers[site.module] == joined.modules().size()) continue;
      sources.emplace_back(Site{numbers[site.module], site.offset, 0}, *std::move(source));
    }
  }
  return sources;
}

}  // namespace

Result<Bytes> join_jobs(const std::vector<const Trace *> &traces, std::vector<Job> jobs) {
  assert(!traces.empty() && traces.size() == jobs.size());
  uint64_t size = 0;
  for (size_t i = 0; i < traces.size(); ++i) {
    if (!traces[i]->run().jobs.empty()) return fail(ErrorKind::usage, "a trace holds several jobs already");
    if (traces[i]->run().timing != traces[0]->run().timing) {
      return fail(
          ErrorKind::usage,
          "the jobs' times were kept differently: " + traces[0]->run().timing + " and " + traces[i]->run().timing,
          "record them alike, or make them alike with cairn repack --timing");
    }
    jobs[i].first = static_cast<uint32_t>(size);
    jobs[i].command = traces[i]->run().command;
    size += traces[i]->rank_count();
    if (size > kMaxRanks) return fail(ErrorKind::usage, "a trace holds at most 16,777,216 ranks");
  }
  Part whole;
  for (uint32_t i = 0; i < traces.size(); ++i) {
    auto body = whole_part(*traces[i]);
    if (!body) return tl::unexpected(body.error());
    move_job(body->get(), i, jobs[i].first, static_cast<uint32_t>(size));
    if (traces[i]->rank_info(0).host != traces[0]->rank_info(0).host) set_apart(body->get());
    auto merged = Part::merge(std::move(whole), Edited::part(*std::move(body)));
    if (!merged) return tl::unexpected(merged.error());
    whole = *std::move(merged);
  }
  Result<Bytes> file = whole.to_file(joined_run(traces, std::move(jobs)));
  if (!file) return file;
  const auto joined = Trace::from_bytes(*file, "the joined trace");
  if (!joined) return tl::unexpected(joined.error());
  const auto sources = all_sources(*joined, traces);
  return sources.empty() ? std::move(*file) : with_sources(*joined, sources);
}

}  // namespace cairn::trace
