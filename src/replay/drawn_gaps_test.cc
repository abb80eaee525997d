#include "replay/drawn_gaps.h"

#include <gtest/gtest.h>

#include <cmath>

#include "trace/merge/part.h"

namespace cairn::replay {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kCalls = 1000;

/// A rank of three that calls one function at one site so often; its gaps are to be added.
trace::ProcessRecord process_of(uint32_t rank, uint64_t calls) {
  trace::ProcessRecord process;
  process.rank = rank;
  process.size = 3;
  process.modules.push_back({{1, 2, 3}, "program"});
  trace::SequenceRecord sequence;
  trace::Row row;
  row.site = 1;
  row.fields.push_back({false, {0}, {}});
  ByteWriter packed;
  trace::pack_row(row, packed);
  sequence.rows.push_back(packed.take());
  sequence.calls = grammar::Grammar::from_symbols(std::vector<grammar::Symbol>(calls, 0));
  sequence.sites = {{}, {0, 100, 0}};
  sequence.gaps.resize(2);
  process.sequences.push_back(std::move(sequence));
  return process;
}

trace::Trace trace_of(const trace::Part &part) {
  trace::RunInfo run;
  run.timing = "stats-gaps";
  return *trace::Trace::from_bytes(*part.to_file(run), "");
}

/// Nine gaps of ten are a millisecond, one is twenty. Rank 1 was outside MPI for twice as long as the others, though
/// its gaps stand with theirs.
trace::Trace two_paces(bool second_thread = false) {
  trace::Part all;
  for (uint32_t rank = 0; rank < 3; ++rank) {
    trace::ProcessRecord process = process_of(rank, kCalls);
    uint64_t outside = 0;
    for (uint64_t call = 0; call < kCalls; ++call) {
      const uint64_t gap = call % 10 == 9 ? 20 * kMs : kMs;
      process.sequences[0].gaps[1].add(gap);
      outside += gap;
    }
    process.mpi_ns = 5 * kMs;
    process.wall_ns = process.mpi_ns + outside * (rank == 1 ? 2 : 1);
    if (second_thread) {
      process.sequences.push_back(process.sequences[0]);
      process.sequences[1].thread = 1;
    }
    all = *trace::Part::merge(std::move(all), *trace::Part::of(process));
  }
  return trace_of(all);
}

TEST(DrawnGaps, HaveBothPacesAfterEachNumberOfCalls) {
  const trace::Trace trace = two_paces();
  for (uint32_t rank = 0; rank < 3; ++rank) {
    DrawnGaps gaps(trace, rank);
    ASSERT_TRUE(gaps.known());
    const double scale = rank == 1 ? 1.5 : 0.75;
    double longer = 0;
    double sum = 0;
    for (uint64_t call = 1; call <= kCalls; ++call) {
      const auto gap = static_cast<double>(gaps.next(0, 1)) / kMs / scale;
      // Within their buckets, but for the stretching.
      EXPECT_TRUE((gap > 0.7 && gap < 1.2) || (gap > 15 && gap < 27)) << gap;
      longer += gap > 10 ? 1 : 0;
      sum += gap;
      const auto so_many = static_cast<double>(call);
      EXPECT_LE(std::abs(longer - so_many / 10), 1 + std::log2(so_many)) << call;
    }
    EXPECT_NEAR(sum / kCalls, 2.9, 0.003) << rank;
  }
}

TEST(DrawnGaps, OfAllRanksComeToTheRecordedSum) {
  // Of 3 * 4 calls one has a gap that is far longer than all others: one rank has it, whichever.
  trace::Part all;
  for (uint32_t rank = 0; rank < 3; ++rank) {
    trace::ProcessRecord process = process_of(rank, 4);
    for (uint64_t call = 0; call < 4; ++call) {
      const uint64_t gap = rank == 1 && call == 2 ? 1000 * kMs : kMs + call * 1000;
      process.sequences[0].gaps[1].add(gap);
    }
    // Outside MPI each is as long as the mean of all.
    process.wall_ns = 4 * (11 * (kMs + 1500) + 1000 * kMs) / 12;
    all = *trace::Part::merge(std::move(all), *trace::Part::of(process));
  }
  const trace::Trace trace = trace_of(all);
  double sum = 0;
  size_t longer = 0;
  for (uint32_t rank = 0; rank < 3; ++rank) {
    DrawnGaps gaps(trace, rank);
    for (uint64_t call = 0; call < 4; ++call) {
      const auto gap = static_cast<double>(gaps.next(0, 1));
      sum += gap;
      longer += gap > 100 * kMs ? 1 : 0;
    }
  }
  EXPECT_EQ(longer, 1U);
  EXPECT_NEAR(sum / (1011.0 * kMs), 1, 0.001);
}

TEST(DrawnGaps, AreNotStretchedWhereThreadsAreSeveral) {
  const trace::Trace trace = two_paces(true);
  DrawnGaps gaps(trace, 1);
  double sum = 0;
  for (uint64_t call = 0; call < kCalls; ++call) sum += static_cast<double>(gaps.next(0, 1)) / kMs;
  EXPECT_NEAR(sum / kCalls, 2.9, 0.03);
}

TEST(DrawnGaps, AreTheSameAgainAndDifferFromRankToRank) {
  const trace::Trace trace = two_paces();
  DrawnGaps first(trace, 0);
  DrawnGaps again(trace, 0);
  DrawnGaps other(trace, 2);
  size_t different = 0;
  for (uint64_t call = 0; call < kCalls; ++call) {
    const uint64_t gap = first.next(0, 1);
    EXPECT_EQ(gap, again.next(0, 1));
    different += gap != other.next(0, 1) ? 1 : 0;
  }
  EXPECT_GT(different, kCalls / 2);
}

TEST(DrawnGaps, AreNotKnownWithoutHistograms) {
  const trace::Trace trace = two_paces();
  DrawnGaps gaps(trace, 0);
  EXPECT_EQ(gaps.next(0, 0), 0U);
  EXPECT_EQ(gaps.next(0, 7), 0U);
}

}  // namespace
}  // namespace cairn::replay
