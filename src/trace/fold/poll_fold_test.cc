// Unsuccessful polls leave the sequence of calls: what is read back is what was recorded, in any tree, and ranks that
// polled another number of times are one class.
#include "trace/fold/poll_fold.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>

#include "trace/testing/synthetic.h"
#include "trace/testing/test_recordings.h"

namespace cairn::trace {
namespace {

TEST(PollFold, AnyTreeGivesBackWhatWasRecorded) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const auto processes = polling_program(1 + static_cast<uint32_t>(seed % 11), seed);
    std::mt19937_64 random(seed);
    for (const Choice &tree :
         {Choice([&random](size_t places) { return random() % places; }), Choice([](size_t) { return size_t{0}; })}) {
      const Trace trace = merged(processes, tree);
      EXPECT_TRUE(trace.class_view(0).counted);
      expect_same(trace, processes);
      if (HasFailure()) return;
    }
  }
}

/// A loop that waits for something by polling, `waits(step)` times in vain.
ProcessRecord waiting(uint32_t rank, uint32_t ranks, int steps, const std::function<uint64_t(int)> &waits) {
  const auto packed = [rank](Atom what, std::vector<Atom> flag) {
    Row row;
    row.function = static_cast<uint32_t>(what);
    row.site = static_cast<uint32_t>(what);
    row.fields = {{false, {static_cast<Atom>(rank)}, {}}, {false, std::move(flag), {}}, {false, {0}, {}}};
    ByteWriter out;
    pack_row(row, out);
    return out.take();
  };
  std::vector<grammar::Symbol> calls;
  std::vector<Bytes> all = {packed(1, {}), packed(2, {1}), packed(2, {0})};
  std::vector<Poll> polls = {{}, {Poll::successful, all[2]}, {Poll::unsuccessful, {}}};
  bool waited = false;
  for (int step = 0; step < steps; ++step) {
    calls.push_back(0);
    for (uint64_t i = waits(step); i > 0; --i, waited = true) calls.push_back(2);
    calls.push_back(1);
  }
  if (!waited) {
    all.pop_back();
    polls.pop_back();
  }
  SequenceRecord sequence;
  sequence.calls = grammar::Grammar::from_symbols(calls);
  sequence.rows = all;
  sequence.polls = polls;
  sequence.sites = {{}, {0, 1000, 0}, {0, 2000, 0}};
  ProcessRecord process;
  process.rank = rank;
  process.size = ranks;
  process.modules.push_back({{1, 2, 3}, "program"});
  process.sequences.push_back(std::move(sequence));
  return process;
}

TEST(PollFold, RanksThatWaitedAndThatDidNotAreOneClass) {
  std::mt19937_64 random(5);
  std::vector<ProcessRecord> processes;
  constexpr uint32_t kRanks = 16;
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    processes.push_back(waiting(rank, kRanks, 50, [&](int) { return rank % 4 == 1 ? 0 : random() % 1000; }));
  }
  const Trace trace = merged(processes, [](size_t) { return size_t{0}; });
  expect_same(trace, processes);
  EXPECT_EQ(trace.class_count(), 1U);
  // The loop is one, whatever the counts are.
  EXPECT_LE(trace.class_view(0).calls->rules().size(), 2U);
}

TEST(PollFold, NothingIsExpanded) {
  // A million million unsuccessful polls, by a grammar of a few terms.
  ProcessRecord process = waiting(0, 1, 3, [](int) { return 2; });
  std::vector<grammar::Body> rules(3);
  rules[0] = {{1, true, 1'000'000}};
  rules[1] = {{0, false, 1}, {2, true, 500'000}, {1, false, 1}};
  rules[2] = {{2, false, 2}};
  process.sequences[0].calls = *grammar::Grammar::from_rules(rules);
  const Result<Part> part = Part::of(process);
  ASSERT_TRUE(part.has_value());
  const Trace trace = *Trace::from_bytes(*part->to_file({}), "test");
  const std::vector<uint64_t> counts = trace.row_counts(0);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), uint64_t{0}), 1'000'002'000'000U);
  EXPECT_EQ(trace.class_view(0).calls->length(), 3'000'000U);
}

}  // namespace
}  // namespace cairn::trace
