#include "trace/read/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>

#include "trace/merge/part_body.h"
#include "trace/read/call_times.h"
#include "trace/read/edit.h"
#include "trace/read/trace_body.h"
#include "trace/testing/synthetic.h"

namespace cairn::trace {
namespace {

Part part_of(const ProcessRecord &process) {
  Result<Part> part = Part::of(process);
  EXPECT_TRUE(part.has_value()) << (part ? "" : part.error().message);
  return *std::move(part);
}

Part merge(Part left, Part right) {
  Result<Part> part = Part::merge(std::move(left), std::move(right));
  EXPECT_TRUE(part.has_value()) << (part ? "" : part.error().message);
  return *std::move(part);
}

/// As a reduction tree would: every part travels as bytes.
Part travelled(const Part &part) {
  Result<Part> back = Part::parse(part.serialise());
  EXPECT_TRUE(back.has_value()) << (back ? "" : back.error().message);
  return *std::move(back);
}

Part binomial(const std::vector<ProcessRecord> &processes) {
  std::vector<Part> parts;
  for (const ProcessRecord &process : processes) parts.push_back(part_of(process));
  for (size_t distance = 1; distance < parts.size(); distance *= 2) {
    for (size_t i = 0; i + distance < parts.size(); i += 2 * distance) {
      parts[i] = merge(std::move(parts[i]), travelled(parts[i + distance]));
    }
  }
  return std::move(parts[0]);
}

/// Any two of what is left, until one is.
Part random_tree(const std::vector<ProcessRecord> &processes, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Part> parts;
  for (const ProcessRecord &process : processes) parts.push_back(part_of(process));
  while (parts.size() > 1) {
    std::swap(parts[random() % parts.size()], parts.back());
    Part right = std::move(parts.back());
    parts.pop_back();
    Part &left = parts[random() % parts.size()];
    left = merge(std::move(left), random() % 2 == 0 ? travelled(right) : std::move(right));
  }
  return std::move(parts[0]);
}

Trace opened(const Bytes &bytes) {
  Result<Trace> trace = Trace::from_bytes(bytes, "test.cairn");
  EXPECT_TRUE(trace.has_value()) << (trace ? "" : trace.error().message);
  return *std::move(trace);
}

RunInfo some_run() {
  return {"mpiexec -n 64 ./stencil", "MPICH Version: 4.0.2", "cairn 0.1.0 libmpich.so.12", "lossless", "complete",
          1'700'000'000'000'000'000, 1'000'000'000};
}

/// Everything that was recorded can be read back.
void expect_same(const Trace &trace, const std::vector<ProcessRecord> &processes, const std::string &what) {
  ASSERT_EQ(trace.ranks().size(), processes.size()) << what;
  for (const ProcessRecord &process : processes) {
    const Trace::RankInfo info = trace.rank_info(process.rank);
    EXPECT_EQ(info.host, process.host);
    EXPECT_EQ(read_losses(info.degraded), process.losses);
    EXPECT_EQ(info.complete, process.complete);
    EXPECT_EQ(info.wall_ns, process.wall_ns);
    EXPECT_EQ(info.mpi_ns, process.mpi_ns);
    EXPECT_EQ(info.peak_memory, process.peak_memory);
    const std::vector<SequenceView> views = trace.sequences(process.rank);
    ASSERT_EQ(views.size(), process.sequences.size()) << what;
    for (const SequenceRecord &sequence : process.sequences) {
      const auto view = std::find_if(views.begin(), views.end(), [&sequence](const SequenceView &v) {
        return v.thread == sequence.thread && v.segment == sequence.segment;
      });
      ASSERT_NE(view, views.end()) << what;
      EXPECT_EQ(view->begin_ns, sequence.begin_ns);
      const ClassView shared = trace.class_view(view->class_index);
      ASSERT_EQ(shared.calls->expand(), sequence.calls.expand()) << what;
      ASSERT_EQ(shared.rows, sequence.rows.size());
      const std::vector<Site> sites = trace.sites(view->class_index);
      ASSERT_EQ(sites.size(), std::max<size_t>(1, sequence.sites.size()));
      for (size_t s = 1; s < sites.size(); ++s) {
        EXPECT_EQ(sites[s].offset, sequence.sites[s].offset);
        const Module &recorded = process.modules[sequence.sites[s].module];
        EXPECT_EQ(trace.modules()[sites[s].module], recorded);
      }
      for (uint32_t r = 0; r < shared.rows; ++r) {
        ByteReader in(sequence.rows[r]);
        Row expected = *unpack_row(in);
        Row head = trace.row_head(view->class_index, r);
        EXPECT_EQ(std::tuple(head.function, head.site, head.depth),
                  std::tuple(expected.function, expected.site, expected.depth));
        Row row = trace.row(view->class_index, r, process.rank);
        // Static addresses name the module, not its local number.
        ASSERT_EQ(row.fields.size(), expected.fields.size());
        for (size_t f = 0; f < row.fields.size(); ++f) {
          std::vector<Atom> &atoms = expected.fields[f].atoms;
          for (size_t i = 0; i + 1 < atoms.size(); ++i) {
            if (atoms[i] != kStatic) continue;
            EXPECT_EQ(trace.modules()[static_cast<size_t>(row.fields[f].atoms[i + 1])],
                      process.modules[static_cast<size_t>(atoms[i + 1])]);
            atoms[i + 1] = row.fields[f].atoms[i + 1];
          }
        }
        ASSERT_EQ(row, expected) << what << " rank " << process.rank << " row " << r;
        const std::optional<Field> result = trace.results(view->class_index)[r];
        if (row.fields.empty()) {
          EXPECT_FALSE(result.has_value()) << what << " row " << r;
        } else {
          EXPECT_EQ(result.value_or(row.fields.back()), row.fields.back()) << what << " row " << r;
        }
      }
      const auto times = all_times(trace, *view);
      ASSERT_TRUE(times.has_value()) << times.error().message;
      EXPECT_EQ(times->size(), sequence.times.empty() ? 0 : sequence.calls.length());
      const std::optional<HeapHistory> heap = trace.heap(*view);
      const std::vector<grammar::Symbol> events = sequence.heap.expand();
      ASSERT_EQ(heap ? heap->order->length() : 0, events.size()) << what;
      const std::vector<grammar::Symbol> read = heap ? heap->order->expand() : std::vector<grammar::Symbol>();
      for (size_t i = 0; i < events.size(); ++i) {
        ASSERT_EQ(heap->events[read[i]], sequence.heap_events[events[i]]) << what << " rank " << process.rank;
      }
      const std::vector<uint64_t> tickets = trace.tickets(*view);
      if (sequence.order.empty()) {
        EXPECT_TRUE(tickets.empty());
      } else {
        const auto skips = sequence.order.expand();
        ASSERT_EQ(tickets.size(), skips.size());
        EXPECT_EQ(tickets[0], sequence.first_ticket);
        for (size_t i = 1; i < tickets.size(); ++i) EXPECT_EQ(tickets[i], tickets[i - 1] + skips[i] + 1);
      }
    }
  }
}

/// Statistics of every class are those of its members, computed naively.
void expect_statistics(const Trace &trace, const std::vector<ProcessRecord> &processes) {
  for (uint32_t c = 0; c < trace.class_count(); ++c) {
    const ClassView view = trace.class_view(c);
    for (uint32_t r = 0; r < view.rows; ++r) {
      timing::CallStats all;
      std::vector<double> sums;
      uint64_t greatest = 0;
      uint64_t least = UINT64_MAX;
      uint32_t greatest_rank = 0;
      uint32_t least_rank = 0;
      for (const uint32_t rank : view.ranks) {
        for (const SequenceRecord &sequence : processes[rank].sequences) {
          if (sequence.thread != view.thread || sequence.segment != view.segment || sequence.stats.empty()) continue;
          const timing::CallStats &one = sequence.stats[r];
          if (one.count != 0) {
            all.minimum = all.count == 0 ? one.minimum : std::min(all.minimum, one.minimum);
            all.maximum = std::max(all.maximum, one.maximum);
          }
          all.count += one.count;
          all.sum += one.sum;
          for (const auto &bucket : one.histogram.buckets()) all.histogram[bucket.number] += bucket.count;
          if (sums.empty() || one.sum > greatest) {
            greatest = one.sum;
            greatest_rank = rank;
          }
          if (one.sum < least) {
            least = one.sum;
            least_rank = rank;
          }
          sums.push_back(static_cast<double>(one.sum));
        }
      }
      const auto stats = trace.row_stats(c, r);
      ASSERT_EQ(stats.has_value(), !sums.empty());
      if (!stats) continue;
      EXPECT_EQ(stats->calls.count, all.count);
      EXPECT_EQ(stats->calls.sum, all.sum);
      EXPECT_EQ(stats->calls.minimum, all.minimum);
      EXPECT_EQ(stats->calls.maximum, all.maximum);
      EXPECT_EQ(stats->calls.histogram.buckets(), all.histogram.buckets());
      EXPECT_EQ(stats->ranks, sums.size());
      EXPECT_EQ(stats->least_sum, least);
      EXPECT_EQ(stats->least_rank, least_rank);
      EXPECT_EQ(stats->greatest_sum, greatest);
      EXPECT_EQ(stats->greatest_rank, greatest_rank);
      const auto n = static_cast<double>(sums.size());
      const double mean = std::accumulate(sums.begin(), sums.end(), 0.0) / n;
      double variance = 0;
      for (const double sum : sums) variance += (sum - mean) * (sum - mean) / n;
      EXPECT_NEAR(stats->mean_sum, mean, 1e-9 * mean);
      EXPECT_NEAR(stats->deviation_of_sums, std::sqrt(variance), 1e-6 * (mean + 1));
    }
  }
}

std::vector<ProcessRecord> stencil(uint32_t rows, uint32_t columns, uint32_t iterations) {
  std::vector<ProcessRecord> processes;
  for (uint32_t rank = 0; rank < rows * columns; ++rank) {
    processes.push_back(stencil_rank(rank, rows, columns, iterations));
  }
  return processes;
}

TEST(Trace, StencilIsOneClassOfGoalSize) {
  for (const auto &[rows, columns] : {std::pair{2U, 2U}, {8U, 8U}, {6U, 6U}, {32U, 32U}}) {
    const auto processes = stencil(rows, columns, rows * columns <= 64 ? 100 : 10);
    const Part part = binomial(processes);
    const Trace trace = opened(*part.to_file(some_run()));
    EXPECT_EQ(trace.class_count(), 1U);
    std::map<std::string, uint64_t> bytes = trace.section_bytes();
    const uint64_t counted = bytes["total"] - bytes["timing"] - bytes["meta"] - bytes["sums"];
    std::printf("%4u ranks: %4lu counted;", rows * columns, counted);
    for (const auto &[name, size] : bytes) std::printf(" %s %lu", name.c_str(), size);
    std::printf("\n");
    EXPECT_LT(counted, 800U);
    EXPECT_LE(bytes["timing"], 96U * trace.class_view(0).rows);
    if (rows * columns > 64) continue;
    expect_same(trace, processes, "stencil");
    expect_statistics(trace, processes);
  }
}

TEST(Trace, SizeDoesNotDependOnIterations) {
  const auto counted = [](uint32_t iterations) {
    std::map<std::string, uint64_t> bytes =
        opened(*binomial(stencil(4, 4, iterations)).to_file(some_run())).section_bytes();
    return bytes["total"] - bytes["timing"] - bytes["meta"] - bytes["sums"];
  };
  EXPECT_LE(counted(1000), counted(20) + 10);
}

TEST(Trace, AnyTreeGivesBackWhatWasRecorded) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    auto processes = random_program(1 + static_cast<uint32_t>(seed * 7 % 41), seed);
    if (seed % 2 == 1) add_heap(&processes, seed);
    const std::string what = "seed " + std::to_string(seed);
    for (const bool in_order : {true, false}) {
      const Part part = in_order ? binomial(processes) : random_tree(processes, seed);
      const Trace trace = opened(*part.to_file(some_run()));
      expect_same(trace, processes, what);
      expect_statistics(trace, processes);
      expect_same(opened(*to_part(trace).to_file(trace.run())), processes, what + " again");
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
}

TEST(Trace, PartsOfOpenedTracesMergeAsTheyDidBefore) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const auto processes = varying_program(9, seed);
    const auto half = [&](size_t from, size_t to) {
      return to_part(opened(*binomial({processes.begin() + from, processes.begin() + to}).to_file(some_run())));
    };
    Result<Part> joined = Part::merge(half(0, 5), half(5, 9));
    ASSERT_TRUE(joined.has_value()) << joined.error().message;
    const auto again = opened(*joined->to_file(some_run())).section_bytes();
    const auto before = opened(*binomial(processes).to_file(some_run())).section_bytes();
    for (const char *section : {"grammars", "rows", "streams"})
      EXPECT_EQ(again.at(section), before.at(section)) << seed;
  }
}

TEST(Trace, EqualValuesOfStreamsAreOneRow) {
  const Trace trace = opened(*binomial(varying_program(1, 3)).to_file(some_run()));
  std::map<Atom, RowPointer> known;
  size_t again = 0;
  for (const ClassPart &part : trace.body().part->classes) {
    for (const Stream &stream : part.streams) {
      for (const StreamVariant &variant : stream.variants) {
        for (const RowPointer &value : variant.values) {
          if (value->heads != std::vector<FieldHead>{{FieldHead::atoms, 1}} || !value->varied.empty()) continue;
          const auto [place, fresh] = known.emplace(value->atoms[0], value);
          EXPECT_EQ(place->second, value);
          if (!fresh) ++again;
        }
      }
    }
  }
  EXPECT_GT(again, 0U);
}

TEST(Trace, HeapSegmentsOfAlikeRanksAreToldOnce) {
  const auto bytes = [](uint32_t side, uint64_t turns) {
    auto processes = stencil(side, side, 20);
    for (ProcessRecord &process : processes) {
      SequenceRecord &sequence = process.sequences[0];
      sequence.heap_events = {{0, 0, 1000 + 8 * process.rank}, {4, 0, 0}};
      std::vector<grammar::Symbol> events;
      for (uint64_t i = 0; i < turns; ++i) events.insert(events.end(), {0, 1});
      sequence.heap = grammar::Grammar::from_symbols(events);
    }
    const Trace trace = opened(*binomial(processes).to_file(some_run()));
    expect_same(trace, processes, "heap");
    return trace.section_bytes()["heap"];
  };
  EXPECT_GT(bytes(2, 10), 0U);
  EXPECT_LE(bytes(8, 1000), bytes(2, 10) + 8);
}

TEST(Trace, AThreadMayHaveCalledNothingSince) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto processes = random_program(9, seed);
    for (ProcessRecord &process : processes) {
      if (process.rank % 3 == 0) continue;
      SequenceRecord idle;
      idle.segment = 7;
      idle.begin_ns = 1000 + process.rank * process.rank;
      process.sequences.push_back(idle);
    }
    const Part part = seed % 2 == 0 ? binomial(processes) : random_tree(processes, seed);
    const Trace trace = opened(*part.to_file(some_run()));
    expect_same(trace, processes, "idle " + std::to_string(seed));
    expect_same(opened(*to_part(trace).to_file(trace.run())), processes, "idle again " + std::to_string(seed));
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

TEST(Trace, WhatARankDidLaterIsAdded) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const auto processes = random_program(12, seed);
    std::vector<ProcessRecord> before = processes;
    std::vector<ProcessRecord> later = processes;
    for (size_t i = 0; i < processes.size(); ++i) {
      const auto is_first = [](const SequenceRecord &s) { return s.segment == 0; };
      std::erase_if(before[i].sequences, [&](const SequenceRecord &s) { return !is_first(s); });
      std::erase_if(later[i].sequences, is_first);
      // The modules that were only needed later.
      uint32_t needed = 0;
      for (const SequenceRecord &s : before[i].sequences) {
        for (const Site &site : s.sites) needed = std::max(needed, site.module + 1);
      }
      for (const Site &frame : before[i].frames) needed = std::max(needed, frame.module + 1);
      if (seed % 2 == 0) before[i].modules.resize(std::max(needed, 1U));
    }
    const Part part = merge(binomial(before), seed % 3 == 0 ? binomial(later) : random_tree(later, seed));
    expect_same(opened(*part.to_file(some_run())), processes, "later " + std::to_string(seed));
    Result<Part> again = Part::merge(binomial(before), part_of(processes[3]));
    EXPECT_FALSE(again.has_value());
  }
}

TEST(Trace, ContradictionsAreErrors) {
  const auto processes = random_program(4, 1);
  EXPECT_FALSE(Part::merge(part_of(processes[1]), part_of(processes[1])).has_value());
  ProcessRecord other_world = processes[2];
  other_world.world = 1;
  EXPECT_FALSE(Part::merge(part_of(processes[1]), part_of(other_world)).has_value());
  ProcessRecord broken = stencil_rank(0, 2, 2, 3);
  broken.sequences[0].rows.pop_back();
  EXPECT_FALSE(Part::of(broken).has_value());  // a call without a row
  broken = stencil_rank(0, 2, 2, 3);
  broken.sequences[0].rows[2].pop_back();
  EXPECT_FALSE(Part::of(broken).has_value());
  broken = stencil_rank(0, 2, 2, 3);
  broken.sequences[0].sites.resize(3);
  EXPECT_FALSE(Part::of(broken).has_value());
  broken = stencil_rank(0, 2, 2, 3);
  broken.sequences.push_back(broken.sequences[0]);
  EXPECT_FALSE(Part::of(broken).has_value());
  broken = stencil_rank(0, 2, 2, 3);
  broken.rank = kMaxRanks;
  EXPECT_FALSE(Part::of(broken).has_value());
}

TEST(Trace, WhatIsNotThereIsAnsweredQuietly) {
  const Trace trace = opened(*binomial(stencil(2, 2, 3)).to_file(some_run()));
  EXPECT_TRUE(trace.sequences(4).empty());
  EXPECT_TRUE(trace.row(0, 0, 4).fields.empty());
  EXPECT_TRUE(trace.row(0, 1000, 0).fields.empty());
  EXPECT_TRUE(trace.row(1, 0, 0).fields.empty());
  EXPECT_FALSE(trace.row_stats(0, 1000).has_value());
  EXPECT_TRUE(trace.sites(9).empty());
  EXPECT_EQ(trace.class_view(9).calls, nullptr);
  EXPECT_FALSE(trace.source({0, 1}).has_value());
  EXPECT_EQ(trace.run().command, "mpiexec -n 64 ./stencil");
  EXPECT_EQ(trace.hosts(), std::vector<std::string>{"node0"});
}

TEST(Trace, SourcesAreAddedAndReplaced) {
  const auto processes = stencil(2, 2, 3);
  const Trace trace = opened(*binomial(processes).to_file(some_run()));
  const std::vector<Site> sites = trace.sites(0);
  const Bytes once =
      with_sources(trace, {{sites[1], {"main", "stencil.c", 12}}, {sites[2], {"exchange", "stencil.c", 40}}});
  const Trace with = opened(once);
  ASSERT_TRUE(with.source(sites[2]).has_value());
  EXPECT_EQ(with.source(sites[2])->function, "exchange");
  EXPECT_EQ(with.source(sites[2])->line, 40U);
  EXPECT_FALSE(with.source(sites[3]).has_value());
  expect_same(with, processes, "with sources");
  const Trace replaced = opened(with_sources(with, {{sites[3], {"main", "other.c", 7}}}));
  EXPECT_FALSE(replaced.source(sites[2]).has_value());
  EXPECT_EQ(replaced.source(sites[3])->file, "other.c");
}

TEST(Trace, SourcesKeepWhereACallJumpedToMpi) {
  const Trace trace = opened(*binomial(stencil(2, 2, 3)).to_file(some_run()));
  const std::vector<Site> sites = trace.sites(0);
  Source wrapped{"main", "stencil.c", 12};
  wrapped.tail_call = std::make_shared<const Source>(Source{"send_all", "wrap.c", 9});
  const Source plain{"main", "stencil.c", 40};
  const Trace with = opened(with_sources(trace, {{sites[1], wrapped}, {sites[2], plain}}));
  ASSERT_TRUE(with.source(sites[1]).has_value());
  EXPECT_EQ(with.source(sites[1])->line, 12U);
  ASSERT_NE(with.source(sites[1])->tail_call, nullptr);
  EXPECT_EQ(with.source(sites[1])->tail_call->function, "send_all");
  EXPECT_EQ(with.source(sites[1])->tail_call->file, "wrap.c");
  EXPECT_EQ(with.source(sites[1])->tail_call->line, 9U);
  ASSERT_TRUE(with.source(sites[2]).has_value());
  EXPECT_EQ(with.source(sites[2])->tail_call, nullptr);
}

TEST(Trace, OpensFilesAndNamesThoseItCannot) {
  const std::string path = ::testing::TempDir() + "trace_test.cairn";
  const Bytes bytes = *binomial(stencil(2, 2, 3)).to_file(some_run());
  std::FILE *file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
  std::fclose(file);
  const Result<Trace> trace = Trace::open(path);
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->section_bytes().at("total"), bytes.size());
  std::remove(path.c_str());
  const Result<Trace> gone = Trace::open(path);
  ASSERT_FALSE(gone.has_value());
  EXPECT_EQ(gone.error().kind, ErrorKind::unreadable);
  EXPECT_EQ(gone.error().path, path);
  EXPECT_FALSE(Trace::open(::testing::TempDir()).has_value());
}

}  // namespace
}  // namespace cairn::trace
