// Strips, single calls and overviews against what going through all calls, one by one, adds up to.
#include "timeline/strip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "timeline/overview.h"
#include "timing/stream.h"
#include "trace/model/record_times.h"
#include "trace/read/call_times.h"
#include "trace/read/class_structure.h"
#include "trace/read/cut_short.h"
#include "trace/read/events.h"
#include "trace/testing/synthetic.h"

namespace cairn::timeline {
namespace {

using trace::ProcessRecord;
using trace::Trace;

Trace traced(const std::vector<ProcessRecord> &processes, const char *timing) {
  trace::Part part = *trace::Part::of(processes[0]);
  for (size_t i = 1; i < processes.size(); ++i) {
    part = *trace::Part::merge(std::move(part), *trace::Part::of(processes[i]));
  }
  return *Trace::from_bytes(*part.to_file({"command", "mpi", "cairn", timing, "complete", 1, 2}), "test");
}

Kinds by(const Trace &trace, By what) {
  return kinds_of(trace, analyze::Sources(trace, analyze::Sources::Look::in_trace_only), what);
}

/// Gaps at all sites, or at every other one.
void add_gaps(std::vector<ProcessRecord> *processes, uint64_t seed, size_t every) {
  std::mt19937_64 random(seed);
  for (ProcessRecord &process : *processes) {
    for (trace::SequenceRecord &sequence : process.sequences) {
      sequence.gaps.resize(sequence.sites.size());
      for (size_t site = 1; site < sequence.sites.size(); site += every) {
        for (uint64_t i = 0; i < 3 + site; ++i) sequence.gaps[site].add(random() >> 44 >> (i % 4 * 6));
      }
    }
  }
}

/// Adds [begin, end) to the columns.
template <typename Number>
void add(const Edges &edges, Number begin, Number end, Number a_ns, size_t kind, size_t kinds,
         std::vector<Number> *cells) {
  for (size_t column = 0; column < edges.columns; ++column) {
    const Number from = std::max<Number>(begin, Number{edges.at(column)} * a_ns);
    const Number to = std::min<Number>(end, Number{edges.at(column + 1)} * a_ns);
    if (from < to) (*cells)[column * kinds + kind] += to - from;
  }
}

/// What a rank did, from all its calls; if it was cut short, outside MPI behind the last of its first thread.
std::vector<uint64_t> measured(const Trace &trace, const Kinds &kinds, uint32_t rank, const Edges &edges,
                               bool after_last = true) {
  std::vector<uint64_t> cells(edges.columns * kinds.count());
  std::map<uint32_t, uint64_t> ends;
  trace::Events events(trace, rank);
  while (const trace::Event *event = events.next()) {
    if (!event->timed || event->values->depth != 0) continue;
    const auto [last, first] = ends.try_emplace(event->thread, event->begin_ns);
    const size_t kind = kinds.of_row[event->class_index][event->row];
    add<uint64_t>(edges, last->second, event->begin_ns, 1, 0, kinds.count(), &cells);
    add<uint64_t>(edges, std::max(event->begin_ns, last->second), event->end_ns, 1, kind, kinds.count(), &cells);
    last->second = std::max(last->second, event->end_ns);
  }
  const auto until = trace::cut_short_ns(trace, rank);
  if (after_last && until && !ends.empty()) {
    add<uint64_t>(edges, ends.begin()->second, *until, 1, 0, kinds.count(), &cells);
  }
  return cells;
}

/// What a rank of a made axis did, row by row.
std::vector<Ticks> made(const Trace &trace, const Kinds &kinds, uint32_t rank, const Edges &edges) {
  std::vector<Ticks> cells(edges.columns * kinds.count());
  RowShares shares(trace, axis_of(trace));
  std::map<uint32_t, Ticks> ends;
  for (const trace::SequenceView &sequence : trace.sequences(rank)) {
    const std::vector<RowShare> of_class = shares.of(sequence.class_index);
    Ticks &at = ends[sequence.thread];
    for (const grammar::Symbol row : trace::class_structure(trace, sequence.class_index).calls->expand()) {
      const RowShare &share = of_class[row];
      std::vector<Ticks> parts(edges.columns * 2);
      add<Ticks>(edges, at, at + share.whole(), ticks_of(1), 0, 1, &parts);
      for (size_t column = 0; column < edges.columns; ++column) {
        if (parts[column] == 0) continue;
        const Ticks from = std::max(at, ticks_of(edges.at(column))) - at;
        const Ticks gap = share.gap_in(from + parts[column]) - share.gap_in(from);
        cells[column * kinds.count()] += gap;
        cells[column * kinds.count() + kinds.of_row[sequence.class_index][row]] += parts[column] - gap;
      }
      at += share.whole();
    }
  }
  return cells;
}

/// Random windows of one rank, as wide as the run and much less.
void expect_strips(const Trace &trace, By what, uint64_t seed) {
  const Kinds kinds = by(trace, what);
  Timeline timeline(trace, kinds);
  std::mt19937_64 random(seed);
  const uint64_t end = timeline.end_ns(trace.ranks());
  uint64_t wrong = 0;
  for (const uint32_t rank : trace.ranks()) {
    for (int i = 0; i < 6; ++i) {
      Wanted wanted;
      wanted.ranks = {rank};
      wanted.columns = i == 0 ? 1 : 1 + random() % (i % 2 == 0 ? 3 : 60);
      if (i > 1) {
        wanted.begin_ns = random() % (end + 1);
        wanted.end_ns = wanted.begin_ns + 1 + random() % (i > 3 ? end / 50 + 1 : end + 1);
      }
      const auto strip = timeline.strip(wanted);
      ASSERT_TRUE(strip);
      ASSERT_EQ(strip->axis, axis_of(trace));
      ASSERT_EQ(strip->lines(), 1U);
      if (strip->axis == AxisKind::measured) {
        ASSERT_EQ(strip->ns, measured(trace, kinds, rank, strip->edges)) << "rank " << rank << ", window " << i;
        continue;
      }
      const std::vector<Ticks> cells = made(trace, kinds, rank, strip->edges);
      for (size_t kind = 0; kind < kinds.count(); ++kind) {
        Ticks sum = 0;
        for (size_t column = 0; column < strip->edges.columns; ++column) {
          const uint64_t before = ns_of(sum);
          sum += cells[column * kinds.count() + kind];
          wrong += strip->at(0, column)[kind] != ns_of(sum) - before ? 1 : 0;
        }
      }
      ASSERT_EQ(wrong, 0U) << "rank " << rank << ", window " << i;
    }
  }
}

std::vector<std::vector<ProcessRecord>> programs_with_statistics() {
  std::vector<std::vector<ProcessRecord>> all;
  for (uint32_t rank = 0; rank < 9; ++rank) {
    if (rank == 0) all.emplace_back();
    all.back().push_back(trace::stencil_rank(rank, 3, 3, 50));
  }
  for (const uint64_t seed : {1, 2, 3}) {
    all.push_back(trace::varying_program(5, seed));
    all.push_back(trace::polling_program(4, seed));
    all.push_back(trace::draining_program(3, seed, seed % 2 == 0).processes);
    all.push_back(trace::neighbours_program(4, seed, static_cast<trace::Neighbours>(seed)).processes);
    all.push_back(trace::exchanging_program(4, seed));
  }
  return all;
}

TEST(Strip, OfMeasuredTimesIsWhatAllCallsAddUpTo) {
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    const Trace trace = traced(trace::lossless_program(5, seed), "lossless");
    ASSERT_EQ(axis_of(trace), AxisKind::measured);
    expect_strips(trace, seed % 2 == 0 ? By::sort : By::site, seed);
    if (HasFatalFailure()) return;
  }
}

/// Ranks with some blocks of times each: the same calls, gaps and durations of their own, and pauses.
std::vector<ProcessRecord> timed_program(uint32_t ranks, uint32_t iterations) {
  std::vector<ProcessRecord> all;
  std::mt19937_64 random(11);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    ProcessRecord process = trace::stencil_rank(rank, 1, ranks, iterations);
    trace::SequenceRecord &sequence = process.sequences[0];
    sequence.stats.clear();
    std::vector<timing::CallTime> times(sequence.calls.length());
    uint64_t clock = sequence.begin_ns;
    for (timing::CallTime &time : times) {
      time.gap = random() % 1000 == 0 ? 1'000'000 : random() % 500;
      time.duration = 100 + random() % 3000;
      clock += time.gap + time.duration;
    }
    process.wall_ns = clock + 1000;
    sequence.times = trace::exact_times(sequence, std::move(times));
    all.push_back(std::move(process));
  }
  return all;
}

TEST(Strip, OfAWindowCostsTheWindow) {
  const Trace trace = traced(timed_program(3, 12'000), "lossless");
  const uint64_t calls = trace.call_count(0);
  ASSERT_GT(calls, 5 * timing::kUsualBlockCalls);
  const Kinds kinds = by(trace, By::sort);
  Timeline timeline(trace, kinds);
  const uint64_t end = timeline.end_ns(trace.ranks());
  std::mt19937_64 random(5);
  for (int i = 0; i < 20; ++i) {
    Wanted wanted;
    wanted.ranks = {i % 2 == 0 ? 0U : 2U};
    wanted.begin_ns = random() % end;
    wanted.end_ns = wanted.begin_ns + 1 + random() % (end / (i < 10 ? 100 : 10));
    wanted.columns = 1 + random() % 50;
    const auto strip = timeline.strip(wanted);
    ASSERT_TRUE(strip);
    ASSERT_EQ(strip->ns, measured(trace, kinds, wanted.ranks[0], strip->edges)) << i;
    EXPECT_LE(strip->steps, (i < 10 ? 2 : 3) * timing::kUsualBlockCalls);
    // As many calls as the window has may be gone through, not one less.
    const uint64_t steps = strip->steps;
    wanted.most_calls = 3 * timing::kUsualBlockCalls;
    ASSERT_EQ(timeline.strip(wanted)->ns, strip->ns);
    wanted.most_calls = steps - 1;
    const auto none = timeline.strip(wanted);
    ASSERT_TRUE(none);
    ASSERT_TRUE(none->too_many);
    EXPECT_GE(*none->too_many, steps);
    EXPECT_LE(*none->too_many, steps + timing::kUsualBlockCalls);
    EXPECT_EQ(none->steps, 0U);
    EXPECT_TRUE(none->ns.empty());
  }
  // Windows that begin outside MPI, right before the first call of a block.
  const trace::SequenceView sequence = trace.sequences(1)[0];
  auto times = trace::CallTimes::of(trace, sequence);
  ASSERT_TRUE(times);
  for (const timing::BlockPlace &block : times->blocks()) {
    const timing::PlacedTime first = *times->at(block.first_call);
    if (first.time.gap < 4) continue;
    Wanted wanted;
    wanted.ranks = {1};
    wanted.begin_ns = trace.place_on_axis(1).of(first.begin_ns + sequence.begin_ns) - first.time.gap / 2;
    wanted.end_ns = wanted.begin_ns + 10'000;
    ASSERT_EQ(timeline.strip(wanted)->ns, measured(trace, kinds, 1, timeline.strip(wanted)->edges));
  }
  // Single calls of a window.
  trace::Events events(trace, 1);
  std::vector<Call> all;
  while (const trace::Event *event = events.next()) {
    all.push_back({event->index, event->begin_ns, event->end_ns, event->class_index, event->row, 0, 0});
  }
  for (int i = 0; i < 100; ++i) {
    const Call &call = all[random() % all.size()];
    const auto within = timeline.calls(1, 0, call.begin_ns, call.end_ns, 10);
    ASSERT_TRUE(within);
    ASSERT_EQ(within->all.size(), 1U);
    EXPECT_EQ(within->all[0].index, call.index);
    EXPECT_EQ(within->all[0].begin_ns, call.begin_ns);
    EXPECT_EQ(within->all[0].end_ns, call.end_ns);
    EXPECT_EQ(within->all[0].row, call.row);
    EXPECT_EQ((*timeline.call(1, 0, call.index))->begin_ns, call.begin_ns);
    EXPECT_EQ((*timeline.call_after(1, 0, call.begin_ns))->index, call.index);
  }
  const auto some = timeline.calls(1, 0, 0, end, 7);
  ASSERT_TRUE(some);
  EXPECT_TRUE(some->more);
  EXPECT_EQ(some->all.size(), 7U);
}

TEST(Strip, ARankThatWasKilledIsOutsideMpiFromItsLastCallOn) {
  constexpr uint64_t kLonger = 7'000'000;
  std::vector<ProcessRecord> program = timed_program(3, 100);
  for (ProcessRecord &process : program) process.wall_ns += kLonger;
  program[1].complete = false;
  program[2].complete = false;
  program[2].losses = {{"memory ended", 5, true}};  // what came after its last call is not known
  const Trace trace = traced(program, "lossless");
  const Kinds kinds = by(trace, By::sort);
  Timeline timeline(trace, kinds);
  const auto outside = [&](uint32_t rank, uint64_t begin_ns) {
    Wanted wanted;
    wanted.ranks = {rank};
    wanted.columns = 20;
    wanted.begin_ns = begin_ns;
    const auto strip = timeline.strip(wanted);
    uint64_t sum = 0;
    uint64_t of_calls = 0;
    for (size_t column = 0; column < wanted.columns; ++column) sum += strip->at(0, column)[0];
    const std::vector<uint64_t> calls = measured(trace, kinds, rank, strip->edges, false);
    for (size_t cell = 0; cell < calls.size(); cell += kinds.count()) of_calls += calls[cell];
    return sum - of_calls;
  };
  EXPECT_EQ(outside(0, 0), 0U);
  EXPECT_EQ(outside(1, 0), kLonger + 1000);
  EXPECT_EQ(outside(2, 0), 0U);
  const uint64_t end = timeline.end_ns({1});
  EXPECT_EQ(outside(1, end - 5000), 5000U);
  EXPECT_EQ(outside(2, end - 5000), 0U);
}

TEST(Strip, OfEstimatedTimesIsWhatAllRowsAddUpTo) {
  uint64_t seed = 0;
  for (std::vector<ProcessRecord> &program : programs_with_statistics()) {
    ++seed;
    if (seed % 3 != 0) add_gaps(&program, seed, seed % 3);
    const Trace trace = traced(program, "stats-gaps");
    expect_strips(trace, seed % 2 == 0 ? By::function : By::site, seed);
    if (HasFatalFailure()) return;
  }
}

TEST(Strip, OfCallsAloneCountsThem) {
  for (std::vector<ProcessRecord> &program : programs_with_statistics()) {
    for (ProcessRecord &process : program) {
      for (trace::SequenceRecord &sequence : process.sequences) sequence.stats.clear();
    }
    const Trace trace = traced(program, "none");
    ASSERT_EQ(axis_of(trace), AxisKind::calls);
    expect_strips(trace, By::sort, 1);
    if (HasFatalFailure()) return;
    // By function all ranks' calls are those of the summary.
    const Kinds kinds = by(trace, By::function);
    Timeline timeline(trace, kinds);
    Wanted wanted;
    wanted.ranks = trace.ranks();
    wanted.lines = 1;
    wanted.columns = 17;
    const auto strip = timeline.strip(wanted);
    ASSERT_TRUE(strip);
    std::vector<double> calls(kinds.count());
    for (uint32_t index = 0; index < trace.class_count(); ++index) {
      const std::vector<uint64_t> counts = trace.row_counts(index);
      for (size_t row = 0; row < counts.size(); ++row) {
        calls[kinds.of_row[index][row]] += static_cast<double>(counts[row]);
      }
    }
    for (size_t kind = 0; kind < kinds.count(); ++kind) {
      uint64_t sum = 0;
      for (size_t column = 0; column < strip->edges.columns; ++column) sum += strip->at(0, column)[kind];
      EXPECT_NEAR(static_cast<double>(sum) / kCallNs, calls[kind], 0.001 * trace.class_count()) << kinds.names[kind];
    }
  }
}

TEST(Strip, OfAWholeRunIsWhatStatisticsAddUpTo) {
  uint64_t seed = 0;
  for (std::vector<ProcessRecord> &program : programs_with_statistics()) {
    add_gaps(&program, ++seed, 1);
    const Trace trace = traced(program, "stats-gaps");
    ASSERT_EQ(axis_of(trace), AxisKind::estimated);
    const Kinds kinds = by(trace, By::function);
    std::vector<double> told(kinds.count());
    for (uint32_t index = 0; index < trace.class_count(); ++index) {
      const trace::ClassPart &part = trace::class_structure(trace, index);
      std::map<uint32_t, uint64_t> gaps;
      for (uint32_t row = 0; row < part.rows.size(); ++row) {
        if (part.rows[row]->depth != 0) continue;
        told[kinds.of_row[index][row]] += static_cast<double>(trace.row_stats(index, row)->calls.sum);
        if (const auto *gap = trace.gaps(index, part.rows[row]->site)) gaps[part.rows[row]->site] = gap->sum;
      }
      for (const auto &[site, sum] : gaps) told[0] += static_cast<double>(sum);
    }
    Timeline timeline(trace, kinds);
    for (const Fold fold : {Fold::neighbours, Fold::classes}) {
      Wanted wanted;
      wanted.ranks = trace.ranks();
      wanted.lines = 2;
      wanted.columns = 100;
      wanted.fold = fold;
      const auto strip = timeline.strip(wanted);
      ASSERT_TRUE(strip);
      for (size_t kind = 0; kind < kinds.count(); ++kind) {
        uint64_t sum = 0;
        for (size_t cell = kind; cell < strip->ns.size(); cell += kinds.count()) sum += strip->ns[cell];
        const double rounded = 2.0 * trace.class_count() + 1;
        EXPECT_NEAR(static_cast<double>(sum), told[kind], rounded + told[kind] * 1e-9) << kinds.names[kind];
      }
    }
  }
}

/// Each call alone is where those before it end, and is found by its index and by its time.
void expect_calls(const Trace &trace) {
  const Kinds kinds = by(trace, By::site);
  Timeline timeline(trace, kinds);
  std::mt19937_64 random(7);
  for (const uint32_t rank : trace.ranks()) {
    std::map<uint32_t, uint64_t> threads;  // and their calls
    for (const trace::SequenceView &sequence : trace.sequences(rank)) {
      for (const uint64_t count : trace.row_counts(sequence)) threads[sequence.thread] += count;
    }
    for (const auto &[thread, count] : threads) {
      const auto all = timeline.calls(rank, thread, 0, UINT64_MAX, SIZE_MAX);
      ASSERT_TRUE(all);
      ASSERT_FALSE(all->more);
      ASSERT_EQ(all->all.size(), count);
      ASSERT_EQ(*timeline.call_count(rank, thread), count);
      uint64_t end = 0;
      for (size_t i = 0; i < all->all.size(); ++i) {
        const Call &call = all->all[i];
        ASSERT_EQ(call.index, i);
        ASSERT_LE(call.begin_ns, call.end_ns);
        ASSERT_EQ(call.depth, trace.row_head(call.class_index, call.row).depth);
        if (call.depth != 0) continue;
        ASSERT_GE(call.begin_ns, end) << "rank " << rank << ", call " << i;
        end = call.end_ns;
      }
      for (int i = 0; i < 30 && count != 0; ++i) {
        const Call &call = all->all[random() % count];
        const auto again = timeline.call(rank, thread, call.index);
        ASSERT_TRUE(again && *again);
        ASSERT_EQ((*again)->begin_ns, call.begin_ns) << "rank " << rank << ", call " << call.index;
        ASSERT_EQ((*again)->end_ns, call.end_ns);
        ASSERT_EQ((*again)->row, call.row);
        const uint64_t ns = random() % (end + 1);
        const auto first =
            std::find_if(all->all.begin(), all->all.end(), [&](const Call &each) { return each.end_ns > ns; });
        const auto after = timeline.call_after(rank, thread, ns);
        ASSERT_TRUE(after);
        ASSERT_EQ(after->has_value(), first != all->all.end());
        if (*after) {
          ASSERT_EQ((*after)->index, first->index) << "rank " << rank << ", " << ns << " ns";
        }
        const uint64_t until = ns + random() % (end / 10 + 1);
        std::vector<uint64_t> wanted;
        for (const Call &each : all->all) {
          if (each.begin_ns < until && (each.end_ns > ns || each.begin_ns >= ns)) wanted.push_back(each.index);
        }
        const auto within = timeline.calls(rank, thread, ns, until, 1000);
        ASSERT_TRUE(within);
        std::vector<uint64_t> found;
        for (const Call &each : within->all) found.push_back(each.index);
        ASSERT_EQ(found, wanted) << "rank " << rank << ", " << ns << " to " << until << " ns";
      }
      ASSERT_FALSE(*timeline.call(rank, thread, count));
    }
  }
}

TEST(SingleCalls, AreWhereTheyAreInTheWhole) {
  for (std::vector<ProcessRecord> &program : programs_with_statistics()) {
    add_gaps(&program, 3, 1);
    expect_calls(traced(program, "stats-gaps"));
    if (HasFatalFailure()) return;
  }
}

/// 12 rows, the inner ones a trillion times, and statistics that fit.
std::vector<ProcessRecord> long_program(uint32_t ranks, uint64_t turns) {
  std::vector<ProcessRecord> all;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    ProcessRecord process = trace::stencil_rank(rank, 1, ranks, 1);
    trace::SequenceRecord &sequence = process.sequences[0];
    const auto last = static_cast<uint32_t>(sequence.rows.size() - 1);
    std::vector<grammar::Body> rules(3);
    for (uint32_t row = 0; row < 10; ++row) rules[0].push_back({row, false, 1});
    rules[0].push_back({1, true, turns});
    for (uint32_t row = 10; row < last - 5; ++row) rules[1].push_back({row, false, 1});
    rules[1].push_back({2, true, 3});
    rules[2] = {{last - 5, false, 1}, {last - 4, false, 2}};
    for (uint32_t row = last - 3; row <= last; ++row) rules[0].push_back({row, false, 1});
    sequence.calls = *grammar::Grammar::from_rules(rules);
    const std::vector<uint64_t> times = sequence.calls.multiplicities();
    for (uint32_t row = 0; row <= last; ++row) {
      timing::CallStats &stats = sequence.stats[row];
      stats = {};
      stats.count = times[row];
      stats.minimum = stats.maximum = 1000 + 37 * row;
      stats.sum = stats.count * stats.minimum;
      stats.histogram[static_cast<size_t>(timing::CallStats::bucket(stats.minimum))] = stats.count;
    }
    all.push_back(std::move(process));
  }
  return all;
}

/// In steps of a few calls; then any window.
void expect_overview(const Trace &trace, By what, Fold fold, size_t most_lines) {
  const Kinds kinds = by(trace, what);
  Timeline timeline(trace, kinds);
  Wanted wanted;
  wanted.ranks = trace.ranks();
  wanted.lines = most_lines;
  wanted.fold = fold;
  Overview overview(&timeline, wanted);
  EXPECT_EQ(overview.ranks_done(), 0U);
  for (uint64_t steps = 0;;) {
    const auto more = overview.advance(700);
    ASSERT_TRUE(more);
    if (overview.all().axis == AxisKind::measured) {
      ASSERT_LE(overview.all().steps, steps + 700);
      steps = overview.all().steps;
    }
    if (!*more) break;
  }
  EXPECT_FALSE(*overview.advance(1));
  EXPECT_EQ(overview.ranks_done(), wanted.ranks.size());
  wanted.columns = overview.all().edges.columns;
  const auto whole = timeline.strip(wanted);
  ASSERT_TRUE(whole);
  ASSERT_EQ(whole->ns, overview.all().ns);
  ASSERT_EQ(whole->ranks, overview.all().ranks);
  // Windows whose columns are some of its own each.
  const Edges &edges = overview.all().edges;
  std::mt19937_64 random(2);
  for (int i = 0; i < 20; ++i) {
    const size_t first = random() % edges.columns;
    const size_t last = first + 1 + random() % (edges.columns - first);
    const Strip one = overview.strip(edges.at(first), edges.at(last), 1);
    ASSERT_EQ(one.lines(), whole->lines());
    for (size_t line = 0; line < one.lines(); ++line) {
      for (size_t kind = 0; kind < kinds.count(); ++kind) {
        uint64_t sum = 0;
        for (size_t column = first; column < last; ++column) sum += whole->at(line, column)[kind];
        ASSERT_EQ(one.at(line, 0)[kind], sum);
      }
    }
    // However narrow columns are, they add up; each has its share.
    const size_t narrow = std::min<uint64_t>(1 + random() % 300, edges.at(last) - edges.at(first));
    const Strip parts = overview.strip(edges.at(first), edges.at(last), narrow);
    const Strip within = overview.strip(edges.at(first), edges.at(first + 1),
                                        std::min<uint64_t>(7, edges.at(first + 1) - edges.at(first)));
    for (size_t line = 0; line < one.lines(); ++line) {
      for (size_t kind = 0; kind < kinds.count(); ++kind) {
        uint64_t sum = 0;
        for (size_t column = 0; column < parts.edges.columns; ++column) sum += parts.at(line, column)[kind];
        ASSERT_EQ(sum, one.at(line, 0)[kind]);
        for (size_t column = 0; column < within.edges.columns; ++column) {
          const double share = static_cast<double>(within.edges.at(column + 1) - within.edges.at(column)) /
                               static_cast<double>(edges.at(first + 1) - edges.at(first));
          const double all = static_cast<double>(whole->at(line, first)[kind]);
          ASSERT_NEAR(static_cast<double>(within.at(line, column)[kind]), all * share, 1.1 + all * 1e-12);
        }
      }
    }
  }
  EXPECT_EQ(overview.strip(edges.end_ns + 5, edges.end_ns + 10, 2).at(0, 0)[0], 0U);
}

TEST(Overview, IsTheStripOfTheWholeRunAndOfItsWindows) {
  expect_overview(traced(timed_program(5, 500), "lossless"), By::function, Fold::neighbours, 3);
  for (const uint64_t seed : {1, 2, 3}) {
    expect_overview(traced(trace::lossless_program(5, seed), "lossless"), By::sort, Fold::classes, 9);
    if (HasFatalFailure()) return;
  }
  for (std::vector<ProcessRecord> &program : programs_with_statistics()) {
    expect_overview(traced(program, "stats"), By::site, Fold::classes, 3);
    expect_overview(traced(program, "stats"), By::sort, Fold::neighbours, 2);
    if (HasFatalFailure()) return;
  }
}

/// Which ranks share lines.
TEST(Strip, FoldsNeighboursOrClasses) {
  std::vector<ProcessRecord> program;
  for (uint32_t rank = 0; rank < 25; ++rank) program.push_back(trace::stencil_rank(rank, 5, 5, 30));
  const Trace trace = traced(program, "stats");
  const Kinds kinds = by(trace, By::sort);
  Timeline timeline(trace, kinds);
  Wanted wanted;
  wanted.ranks = trace.ranks();
  wanted.columns = 10;
  wanted.lines = 5;
  const auto neighbours = timeline.strip(wanted);
  ASSERT_TRUE(neighbours);
  for (uint32_t rank = 0; rank < 25; ++rank) EXPECT_EQ(neighbours->ranks[rank / 5][rank % 5], rank);
  wanted.fold = Fold::classes;
  wanted.lines = SIZE_MAX;
  const auto classes = timeline.strip(wanted);
  ASSERT_TRUE(classes);
  ASSERT_EQ(classes->lines(), trace.class_count());
  for (size_t line = 0; line < classes->lines(); ++line) {
    // As often what one of them is, but for what rounding leaves.
    Wanted one = wanted;
    one.begin_ns = classes->edges.begin_ns;
    one.end_ns = classes->edges.end_ns;
    one.ranks = {classes->ranks[line].front()};
    const auto alone = timeline.strip(one);
    ASSERT_TRUE(alone);
    const uint32_t index = trace.sequences(one.ranks[0])[0].class_index;
    EXPECT_EQ(classes->ranks[line], trace.class_ranks(index).expand());
    for (size_t column = 0; column < wanted.columns; ++column) {
      for (size_t kind = 0; kind < kinds.count(); ++kind) {
        const auto ranks = static_cast<double>(classes->ranks[line].size());
        EXPECT_NEAR(static_cast<double>(classes->at(line, column)[kind]),
                    ranks * static_cast<double>(alone->at(0, column)[kind]), ranks);
      }
    }
  }
}

TEST(Kinds, AreAtMostSoMany) {
  std::vector<ProcessRecord> program = {trace::stencil_rank(0, 1, 1, 10)};
  const Trace trace = traced(program, "stats");
  const Kinds sites = by(trace, By::site);
  EXPECT_GT(sites.count(), 10U);
  EXPECT_EQ(sites.names[0], "outside MPI");
  // Every row another number, of which two have names.
  size_t next = 0;
  const Kinds own =
      kinds_of(trace, {"", "one", "two"}, [&](uint32_t, const trace::Structure::RowHead &) { return next++; });
  EXPECT_EQ(own.names, (std::vector<std::string>{"outside MPI", "one", "two", "other"}));
  ASSERT_GT(own.of_row[0].size(), 4U);
  EXPECT_EQ(own.of_row[0][0], 3);
  EXPECT_EQ(own.of_row[0][1], 1);
  EXPECT_EQ(own.of_row[0][2], 2);
  EXPECT_EQ(own.of_row[0][3], 3);
  // More names than there can be kinds.
  const Kinds many = kinds_of(trace, std::vector<std::string>(1000, "name"),
                              [&](uint32_t, const trace::Structure::RowHead &) { return size_t{999}; });
  EXPECT_EQ(many.count(), Kinds::kMost);
  EXPECT_EQ(many.names.back(), "other");
  EXPECT_EQ(many.of_row[0][0], Kinds::kMost - 1);
}

TEST(Strip, OfATrillionTurnsCostsTheGrammar) {
  constexpr uint64_t kTurns = 100'000'000'000;
  const Trace trace = traced(long_program(2, kTurns), "stats");
  const Kinds kinds = by(trace, By::function);
  Timeline timeline(trace, kinds);
  const uint64_t count = *timeline.call_count(1, 0);
  ASSERT_GT(count, uint64_t{1'000'000'000'000});
  const uint64_t end = timeline.end_ns({1});
  std::mt19937_64 random(3);
  for (int i = 0; i < 50; ++i) {
    Wanted wanted;
    wanted.ranks = {1};
    wanted.columns = 1000;
    if (i != 0) {
      wanted.begin_ns = random() % end;
      wanted.end_ns = std::min(end, wanted.begin_ns + 1 + (end >> (random() % 60)));
    }
    const auto strip = timeline.strip(wanted);
    ASSERT_TRUE(strip);
    EXPECT_LT(strip->steps, 120U * 1000);
    for (size_t column = 0; column < wanted.columns; ++column) {
      uint64_t sum = 0;
      for (const uint64_t ns : strip->at(0, column)) sum += ns;
      const uint64_t length = strip->edges.at(column + 1) - strip->edges.at(column);
      ASSERT_NEAR(static_cast<double>(sum), static_cast<double>(length), static_cast<double>(kinds.count()))
          << "column " << column;
    }
    const uint64_t index = random() % count;
    const auto call = timeline.call(1, 0, index);
    ASSERT_TRUE(call && *call);
    EXPECT_EQ((*call)->index, index);
    const auto found = timeline.call_after(1, 0, (*call)->begin_ns);
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->index, index);
  }
}

}  // namespace
}  // namespace cairn::timeline
