#include "spool/jobs.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>

#include "trace/read/trace.h"

namespace cairn::spool {
namespace {

constexpr uint64_t kOneJob = 60'000'000'000;  // ns between the first and the last start

/// A job under way, while parts are sorted.
struct Gathered {
  Job job;
  std::set<uint32_t> ranks;

  [[nodiscard]] bool takes(const SpoolHeader &header) const {
    const SpoolHeader &first = job.parts.front()->header;
    if (first.command != header.command || first.size != header.size || ranks.contains(header.rank)) return false;
    if (first.job != 0 && header.job != 0) return first.job == header.job;
    return header.start_unix_ns - first.start_unix_ns <= kOneJob;
  }
};

}  // namespace

bool Job::no_calls() const {
  return std::all_of(parts.begin(), parts.end(), [](const PartFile *part) { return part->no_calls; });
}

std::vector<Job> jobs_of(const std::vector<PartFile> &parts) {
  std::vector<const PartFile *> ordered;
  ordered.reserve(parts.size());
  for (const PartFile &part : parts) ordered.push_back(&part);
  std::sort(ordered.begin(), ordered.end(), [](const PartFile *a, const PartFile *b) {
    return std::tuple(a->header.start_unix_ns, a->header.rank) < std::tuple(b->header.start_unix_ns, b->header.rank);
  });
  std::vector<Gathered> gathered;
  for (const PartFile *part : ordered) {
    auto to =
        std::find_if(gathered.begin(), gathered.end(), [&](const Gathered &each) { return each.takes(part->header); });
    if (to == gathered.end()) to = gathered.insert(gathered.end(), Gathered{});
    to->job.parts.push_back(part);
    to->ranks.insert(part->header.rank);
  }
  std::vector<Job> jobs;
  for (Gathered &each : gathered) {
    std::sort(each.job.parts.begin(), each.job.parts.end(),
              [](const PartFile *a, const PartFile *b) { return a->header.rank < b->header.rank; });
    jobs.push_back(std::move(each.job));
  }
  return jobs;
}

bool Run::is_aside() const {
  return trace.empty() && std::all_of(job.parts.begin(), job.parts.end(),
                                      [](const PartFile *part) { return part->header.status == kNotInitialised; });
}

bool is_of(const PartFile &part, const trace::Trace &trace) {
  const auto start = static_cast<uint64_t>(trace.run().start_unix_ns);
  if (part.header.command != trace.run().command || part.header.size != trace.rank_count()) return false;
  if (part.header.job != 0) return part.header.job == start;
  return std::max(start, part.header.start_unix_ns) - std::min(start, part.header.start_unix_ns) <= kOneJob;
}

std::vector<Run> runs_of(const Contents &contents) {
  std::vector<Run> runs;
  std::vector<Job> jobs = jobs_of(contents.parts);
  for (const std::string &path : contents.traces) {
    const auto trace = trace::Trace::open(path, trace::no_bundles);
    runs.push_back({trace ? trace->run().start_unix_ns : 0, path, {}});  // what cannot be read is told later
    if (!trace) continue;
    std::erase_if(
        jobs, [&](const Job &job) { return job.parts.front()->header.job != 0 && is_of(*job.parts.front(), *trace); });
  }
  for (Job &job : jobs) {
    uint64_t start = UINT64_MAX;
    for (const PartFile *part : job.parts) start = std::min(start, part->header.start_unix_ns);
    runs.push_back({static_cast<int64_t>(start), {}, std::move(job)});
  }
  const auto order = [](const Run &run) { return std::tuple(run.is_aside(), run.start_unix_ns); };
  std::stable_sort(runs.begin(), runs.end(), [&](const Run &a, const Run &b) { return order(a) < order(b); });
  return runs;
}

}  // namespace cairn::spool
