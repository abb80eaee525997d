// Unsuccessful polls leave the sequence of calls: what is read back is what was recorded, in any tree, and ranks that
// polled another number of times are one class.
#include "trace/fold/poll_fold.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>
#include <random>

#include "trace/merge/part.h"
#include "trace/model/row_counts.h"
#include "trace/read/call_reader.h"
#include "trace/read/trace.h"
#include "trace/testing/synthetic.h"

namespace cairn::trace {
namespace {

using Choice = std::function<size_t(size_t)>;

Trace merged(const std::vector<ProcessRecord> &processes, const Choice &choose) {
  std::vector<Part> parts;
  for (const ProcessRecord &process : processes) parts.push_back(*Part::of(process));
  while (parts.size() > 1) {
    const size_t at = choose(parts.size() - 1);
    Result<Part> travelled = Part::parse(parts[at + 1].serialise());
    EXPECT_TRUE(travelled.has_value()) << (travelled ? "" : travelled.error().message);
    Result<Part> both = Part::merge(std::move(parts[at]), *std::move(travelled));
    EXPECT_TRUE(both.has_value()) << (both ? "" : both.error().message);
    parts[at] = *std::move(both);
    parts.erase(parts.begin() + static_cast<ptrdiff_t>(at) + 1);
  }
  Result<Trace> trace = Trace::from_bytes(*parts[0].to_file({}), "test");
  EXPECT_TRUE(trace.has_value()) << (trace ? "" : trace.error().message);
  return *std::move(trace);
}

/// Every call, the counts of distinct ones, tickets and times are what was recorded.
void expect_sequence(const Trace &trace, const SequenceView &view, const SequenceRecord &recorded) {
  std::vector<Row> rows;
  for (const Bytes &packed : recorded.rows) {
    ByteReader in(packed);
    rows.push_back(*unpack_row(in));
  }
  CallReader reader(trace, view);
  std::map<grammar::Symbol, uint64_t> counts;
  std::vector<uint64_t> by_row(trace.class_view(view.class_index).rows);
  for (const grammar::Symbol symbol : recorded.calls.expand()) {
    const grammar::Symbol number = reader.next();
    ASSERT_NE(number, grammar::kNoSymbol);
    ASSERT_LE(number, counts.size());  // numbered in order of first occurrence
    ASSERT_EQ(reader.call(number), rows[symbol]);
    ++counts[number];
    ++by_row[reader.class_row(number)];
  }
  ASSERT_EQ(reader.next(), grammar::kNoSymbol);
  EXPECT_EQ(trace.row_counts(view), by_row);
  uint64_t distinct = 0;
  for (const CountedRow &counted : trace.counted_rows(view)) {
    bool found = false;
    for (const auto &[number, count] : counts) {
      found = found || (count == counted.count && reader.call(number) == counted.row);
    }
    ASSERT_TRUE(found);
    ++distinct;
  }
  EXPECT_EQ(distinct, counts.size());
  const uint64_t tickets = trace.tickets(view).size();
  EXPECT_EQ(tickets, recorded.order.empty() ? 0 : recorded.calls.length());
}

void expect_same(const Trace &trace, const std::vector<ProcessRecord> &processes) {
  std::vector<std::vector<uint64_t>> sums(trace.class_count());
  uint64_t calls = 0;
  for (const ProcessRecord &process : processes) {
    const std::vector<SequenceView> views = trace.sequences(process.rank);
    ASSERT_EQ(views.size(), process.sequences.size());
    for (size_t i = 0; i < views.size(); ++i) {
      expect_sequence(trace, views[i], process.sequences[i]);
      calls += process.sequences[i].calls.length();
      const std::vector<uint64_t> counts = trace.row_counts(views[i]);
      sums[views[i].class_index].resize(counts.size());
      for (size_t row = 0; row < counts.size(); ++row) sums[views[i].class_index][row] += counts[row];
    }
  }
  uint64_t in_statistics = 0;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    EXPECT_EQ(trace.row_counts(index), sums[index]);
    for (uint32_t row = 0; row < trace.class_view(index).rows; ++row) {
      const auto stats = trace.row_stats(index, row);
      if (stats) in_statistics += stats->calls.count;
    }
  }
  EXPECT_EQ(in_statistics, processes[0].sequences[0].stats.empty() ? 0 : calls);
}

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
