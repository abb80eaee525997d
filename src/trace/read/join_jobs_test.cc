// Joining jobs: each rank's calls, times, statistics and place in time are those of its own trace.
#include "trace/read/join_jobs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "trace/read/edit.h"
#include "trace/read/events.h"
#include "trace/testing/plain_text.h"
#include "trace/testing/synthetic.h"

namespace cairn::trace {
namespace {

/// A job, whose programs differ with the seed. Its rank 0 is on `host`.
Trace job(uint32_t ranks, uint64_t seed, const std::string &timing, const std::string &host = "one") {
  std::vector<ProcessRecord> processes =
      timing == "lossless" ? lossless_program(ranks, seed) : random_program(ranks, seed);
  Part part;
  for (ProcessRecord &process : processes) {
    process.host = host;
    process.clock = {1000 * static_cast<int64_t>(seed), 5, 7};
    part = *Part::merge(std::move(part), *Part::of(process));
  }
  const auto start = static_cast<int64_t>(seed);
  const Trace plain =
      *Trace::from_bytes(*part.to_file({"program", "mpi", "cairn", timing, "complete", start, 100}), "test");
  const std::vector<Site> sites = plain.sites(0);
  std::vector<std::pair<Site, Source>> sources;
  if (sites.size() > 1) sources.emplace_back(sites[1], Source{"main", "main.c", 12});
  return *Trace::from_bytes(with_sources(plain, sources), "test");
}

Trace joined(const std::vector<const Trace *> &traces) {
  std::vector<Job> jobs(traces.size());
  for (size_t i = 1; i < jobs.size(); ++i) {
    jobs[i].spawned_by = 0;
    jobs[i].parent = "comm(" + std::to_string(i) + "@0)";
  }
  const auto bytes = join_jobs(traces, std::move(jobs));
  EXPECT_TRUE(bytes.has_value()) << (bytes ? "" : bytes.error().message);
  return *Trace::from_bytes(*bytes, "joined");
}

/// Calls with their values, times and source positions; of the classes, the statistics in which `rank` is.
std::vector<std::string> all_of(const Trace &trace, uint32_t rank) {
  std::vector<std::string> lines;
  const Trace::RankInfo info = trace.rank_info(rank);
  lines.push_back(info.host + info.degraded + std::to_string(info.wall_ns) + " " + std::to_string(info.mpi_ns) + " " +
                  std::to_string(info.peak_memory) + " " + std::to_string(info.clock.begin_unix_ns));
  Events events(trace, rank);
  while (const Event *event = events.next()) {
    const Row &row = *event->values;
    const Site site = trace.sites(event->class_index)[row.site];
    const auto source = trace.source(site);
    Bytes packed;
    ByteWriter out;
    pack_row(row, out);
    packed = out.take();
    lines.push_back(std::to_string(event->thread) + " " + std::to_string(event->segment) + " " +
                    std::string(packed.begin(), packed.end()) + " " + std::to_string(event->gap_ns) + "+" +
                    std::to_string(event->duration_ns) + " " + std::to_string(site.offset) +
                    (source ? source->file : ""));
    if (const auto stats = trace.row_stats(event->class_index, event->row)) {
      const auto first = trace.job_of(rank).first;  // statistics may be of other ranks of the class
      lines.back() += " " + std::to_string(stats->calls.count) + " " + std::to_string(stats->calls.sum) + " " +
                      std::to_string(stats->least_rank - first) + " " + std::to_string(stats->greatest_rank - first);
    }
  }
  EXPECT_TRUE(events.end());
  return lines;
}

void expect_as_alone(const Trace &all, const std::vector<const Trace *> &traces) {
  uint32_t first = 0;
  for (uint32_t number = 0; number < traces.size(); ++number) {
    for (const uint32_t rank : traces[number]->ranks()) {
      EXPECT_EQ(all_of(all, first + rank), all_of(*traces[number], rank)) << number << " " << rank;
      const Trace::JobPlace expected{number, first, traces[number]->rank_count()};
      EXPECT_EQ(all.job_of(first + rank), expected);
    }
    first += traces[number]->rank_count();
  }
  EXPECT_EQ(all.rank_count(), first);
  EXPECT_EQ(all.run().jobs.size(), traces.size());
}

TEST(JoinJobs, EachRankIsAsItWasAlone) {
  for (const char *timing : {"stats", "lossless"}) {
    for (uint64_t seed = 1; seed < 5; ++seed) {
      const Trace one = job(4, seed, timing);
      const Trace two = job(3, seed + 1, timing);
      const Trace three = job(1, seed, timing);
      const std::vector<const Trace *> traces = {&one, &two, &three};
      expect_as_alone(joined(traces), traces);
    }
  }
}

TEST(JoinJobs, EqualJobsShareNoClass) {
  const Trace one = job(3, 1, "stats");
  const Trace two = job(3, 1, "stats");
  const Trace all = joined({&one, &two});
  EXPECT_EQ(all.class_count(), one.class_count() + two.class_count());
  for (uint32_t index = 0; index < all.class_count(); ++index) {
    const RankSet &ranks = all.class_ranks(index);
    EXPECT_EQ(all.job_of(ranks.front()), all.job_of(ranks.back()));
  }
  expect_as_alone(all, {&one, &two});
}

TEST(JoinJobs, ClocksOfOtherHostsWereNotCompared) {
  const Trace one = job(2, 1, "stats");
  const Trace here = job(2, 2, "stats");
  const Trace there = job(2, 3, "stats", "two");
  const Trace all = joined({&one, &here, &there});
  for (const uint32_t rank : {0U, 3U}) EXPECT_EQ(all.rank_info(rank).clock.uncertainty_ns, 7);
  for (const uint32_t rank : {4U, 5U}) EXPECT_EQ(all.rank_info(rank).clock.uncertainty_ns, RankClock::kOwn);
  EXPECT_FALSE(all.axis().compared());
  EXPECT_EQ(all.run().start_unix_ns, 1);
  EXPECT_EQ(all.run().wall_ns, 102);
}

TEST(JoinJobs, WhatCannotStandTogetherIsRefused) {
  const Trace one = job(2, 1, "stats");
  const Trace other = job(2, 1, "lossless");
  const auto apart = join_jobs({&one, &other}, std::vector<Job>(2));
  ASSERT_FALSE(apart.has_value());
  EXPECT_EQ(apart.error().kind, ErrorKind::usage);
  const Trace both = joined({&one, &one});
  const auto again = join_jobs({&both, &one}, std::vector<Job>(2));
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().kind, ErrorKind::usage);
}

TEST(JoinJobs, JobsThatContradictEachOtherAreRefused) {
  const Trace one = job(5, 1, "stats");
  const Part part = to_part(one);
  const auto reads = [&](std::vector<Job> jobs) {
    RunInfo run = one.run();
    run.jobs = std::move(jobs);
    return Trace::from_bytes(*part.to_file(run), "test").has_value();
  };
  EXPECT_TRUE(reads({{0, "", {}, {}}, {2, "", 1, "x"}, {4, "", 3, "x"}}));
  EXPECT_FALSE(reads({{1, "", {}, {}}, {2, "", 1, "x"}}));  // does not begin at 0
  EXPECT_FALSE(reads({{0, "", {}, {}}, {0, "", 0, "x"}}));  // of no ranks
  EXPECT_FALSE(reads({{0, "", {}, {}}, {3, "", 1, "x"}, {2, "", 1, "x"}}));
  EXPECT_FALSE(reads({{0, "", {}, {}}, {5, "", 1, "x"}}));   // behind the last
  EXPECT_FALSE(reads({{0, "", {}, {}}, {2, "", {}, "x"}}));  // by nobody
  EXPECT_FALSE(reads({{0, "", {}, {}}, {2, "", 2, "x"}}));   // by itself
  EXPECT_FALSE(reads({{0, "", 0, "x"}, {2, "", 1, "x"}}));
}

}  // namespace
}  // namespace cairn::trace
