// Times of a trace in other timing modes.
#include "trace/read/retime.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <utility>

#include "trace/model/record_times.h"
#include "trace/read/call_times.h"
#include "trace/testing/synthetic.h"

namespace cairn::trace {
namespace {

const char *name_of(uint32_t function) { return function % 2 == 0 ? "even" : "odd"; }

Trace exact_trace(uint64_t seed) {
  std::vector<ProcessRecord> processes = lossless_program(6, seed);
  for (ProcessRecord &process : processes) {
    for (SequenceRecord &sequence : process.sequences) {
      if (!sequence.times.empty()) sequence.times = exact_times(sequence, *read_times(sequence));
    }
  }
  Part part = *Part::of(processes[0]);
  for (size_t i = 1; i < processes.size(); ++i) part = *Part::merge(std::move(part), *Part::of(processes[i]));
  return *Trace::from_bytes(*part.to_file({"command", "mpi", "cairn", "lossless", "complete", 1, 2}), "test");
}

Result<Retimed> in_mode(const Trace &trace, const char *timing) {
  const timing::Setting setting = *timing::parse_setting(timing);
  return retimed(trace, setting, [&](uint32_t, const Row &row) { return setting.bound_of(name_of(row.function)); });
}

Trace changed(const Trace &trace, const char *timing) {
  const Result<Retimed> made = in_mode(trace, timing);
  EXPECT_TRUE(made.has_value());
  Result<Trace> back = Trace::from_bytes(made->file, "test");
  EXPECT_TRUE(back.has_value());
  EXPECT_EQ(back->run().timing, timing);
  return *std::move(back);
}

/// The view in the other trace that is of the same sequence.
SequenceView same(const Trace &trace, const SequenceView &wanted) {
  for (const SequenceView &view : trace.sequences(wanted.rank)) {
    if (view.thread == wanted.thread && view.segment == wanted.segment) return view;
  }
  ADD_FAILURE() << "a sequence is missing";
  return wanted;
}

bool within(uint64_t value, uint64_t read, double bound) {
  const double off = value > read ? static_cast<double>(value - read) : static_cast<double>(read - value);
  return off <= bound * static_cast<double>(value);
}

TEST(Retime, GapsOfSitesAreThoseOfTheirCalls) {
  const Trace trace = exact_trace(1);
  const Trace made = changed(trace, "stats-gaps");
  const Trace plain = changed(trace, "stats");
  std::map<std::pair<uint32_t, uint64_t>, timing::GapStats> expected;  // by module and offset
  for (const uint32_t rank : trace.ranks()) {
    for (const SequenceView &view : trace.sequences(rank)) {
      const std::vector<Site> sites = trace.sites(view.class_index);
      const auto times = all_times(trace, view);
      CallReader reader(trace, view);
      bool first = true;
      for (const timing::CallTime &time : *times) {
        const Row &row = reader.call(reader.next());
        if (row.depth != 0) continue;
        if (!first && row.site != 0) expected[{sites[row.site].module, sites[row.site].offset}].add(time.gap);
        first = false;
      }
    }
  }
  size_t compared = 0;
  for (uint32_t c = 0; c < made.class_count(); ++c) {
    const std::vector<Site> sites = made.sites(c);
    for (uint32_t site = 1; site < sites.size(); ++site) {
      EXPECT_EQ(plain.gaps(c, site), nullptr);
      const timing::GapStats *gaps = made.gaps(c, site);
      const auto found = expected.find({sites[site].module, sites[site].offset});
      ASSERT_EQ(gaps != nullptr, found != expected.end());
      if (gaps == nullptr) continue;
      // Sites with several callers have these apart.
      if (sites[site].caller == 0) {
        EXPECT_EQ(*gaps, found->second);
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, 0U);
}

TEST(Retime, BoundsAreKeptByFunction) {
  for (const uint64_t seed : {1U, 2U, 3U}) {
    const Trace trace = exact_trace(seed);
    const Trace bounded = changed(trace, "context:rel=10%,odd=1%");
    uint64_t different = 0;
    for (const uint32_t rank : trace.ranks()) {
      for (const SequenceView &view : trace.sequences(rank)) {
        const auto exact = all_times(trace, view);
        const auto coded = all_times(bounded, same(bounded, view));
        ASSERT_TRUE(exact && coded);
        ASSERT_EQ(exact->size(), coded->size());
        CallReader reader(trace, view);
        for (size_t i = 0; i < exact->size(); ++i) {
          const grammar::Symbol call = reader.next();
          const double bound = strcmp(name_of(reader.call(call).function), "odd") == 0 ? 0.01 : 0.1;
          ASSERT_TRUE(within((*exact)[i].gap, (*coded)[i].gap, bound));
          ASSERT_TRUE(within((*exact)[i].duration, (*coded)[i].duration, bound));
          different += (*exact)[i] == (*coded)[i] ? 0 : 1;
        }
      }
    }
    EXPECT_GT(different, 0U);
  }
}

TEST(Retime, ExactTimesStayWhatTheyAre) {
  const Trace trace = exact_trace(4);
  const Trace again = changed(trace, "lossless");
  for (const uint32_t rank : trace.ranks()) {
    for (const SequenceView &view : trace.sequences(rank)) {
      EXPECT_EQ(*all_times(trace, view), *all_times(again, same(again, view)));
    }
  }
}

TEST(Retime, StatisticsAreThoseOfTheTimes) {
  const Trace trace = exact_trace(5);
  const Trace counted = changed(trace, "stats");
  std::map<uint32_t, uint64_t> sums;
  uint64_t calls = 0;
  for (const uint32_t rank : trace.ranks()) {
    for (const SequenceView &view : trace.sequences(rank)) {
      CallReader reader(trace, view);
      const auto times = all_times(trace, view);
      for (const timing::CallTime &time : *times) {
        sums[reader.call(reader.next()).function] += time.duration;
        ++calls;
      }
    }
  }
  std::map<uint32_t, uint64_t> found;
  for (uint32_t c = 0; c < counted.class_count(); ++c) {
    for (uint32_t row = 0; row < counted.class_view(c).rows; ++row) {
      const auto stats = counted.row_stats(c, row);
      ASSERT_TRUE(stats.has_value());
      if (stats->calls.count != 0) found[counted.row_head(c, row).function] += stats->calls.sum;
      calls -= stats->calls.count;
    }
  }
  EXPECT_EQ(found, sums);
  EXPECT_EQ(calls, 0U);
  for (const SequenceView &view : counted.sequences(counted.ranks()[0])) {
    EXPECT_TRUE(all_times(counted, view)->empty());
  }
  EXPECT_FALSE(in_mode(counted, "lossless").has_value());
  EXPECT_FALSE(in_mode(counted, "stats").has_value());
  EXPECT_FALSE(changed(counted, "off").row_stats(0, 0).has_value());
}

TEST(Retime, StatisticsOfBoundedTimesSaySo) {
  const Trace exact = exact_trace(5);
  const Trace bounded = changed(changed(exact, "context:rel=20%"), "stats");
  for (const uint32_t rank : exact.ranks()) {
    EXPECT_NE(bounded.rank_info(rank).degraded.find("statistics are of times within 20%"), std::string::npos);
  }
  EXPECT_EQ(changed(exact, "stats").rank_info(0).degraded, exact.rank_info(0).degraded);
}

TEST(Retime, BoundedTimesDoNotBecomeMoreExact) {
  const Trace bounded = changed(exact_trace(6), "context:rel=10%");
  EXPECT_FALSE(in_mode(bounded, "lossless").has_value());
  EXPECT_FALSE(in_mode(bounded, "context:rel=1%").has_value());
  EXPECT_TRUE(in_mode(bounded, "stats").has_value());
  EXPECT_TRUE(in_mode(bounded, "off").has_value());
}

}  // namespace
}  // namespace cairn::trace
