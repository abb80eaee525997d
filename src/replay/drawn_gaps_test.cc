#include "replay/drawn_gaps.h"

#include <gtest/gtest.h>

#include <cmath>

#include "trace/merge/part.h"

namespace cairn::replay {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kCalls = 1000;

/// Ranks that call one function at one site, nine times of ten a millisecond after the call before, else twenty. Rank 1
/// was outside MPI for twice as long as the others, though its gaps stand with theirs.
trace::Trace two_paces(bool second_thread = false) {
  trace::Part all;
  for (uint32_t rank = 0; rank < 3; ++rank) {
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
    sequence.calls = grammar::Grammar::from_symbols(std::vector<grammar::Symbol>(kCalls, 0));
    sequence.sites = {{}, {0, 100, 0}};
    sequence.gaps.resize(2);
    uint64_t outside = 0;
    for (uint64_t call = 0; call < kCalls; ++call) {
      const uint64_t gap = call % 10 == 9 ? 20 * kMs : kMs;
      sequence.gaps[1].add(gap);
      outside += gap;
    }
    process.mpi_ns = 5 * kMs;
    process.wall_ns = process.mpi_ns + outside * (rank == 1 ? 2 : 1);
    process.sequences.push_back(sequence);
    if (second_thread) {
      sequence.thread = 1;
      process.sequences.push_back(std::move(sequence));
    }
    all = *trace::Part::merge(std::move(all), *trace::Part::of(process));
  }
  trace::RunInfo run;
  run.timing = "stats-gaps";
  return *trace::Trace::from_bytes(*all.to_file(run), "");
}

TEST(DrawnGaps, HaveBothPacesAfterEachNumberOfCalls) {
  const trace::Trace trace = two_paces();
  for (uint32_t rank = 0; rank < 3; ++rank) {
    DrawnGaps gaps(trace, rank);
    ASSERT_TRUE(gaps.known());
    const double scale = rank == 1 ? 2 : 1;
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
    EXPECT_NEAR(sum / kCalls, 2.9, 0.03) << rank;
  }
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
