#include "trace/read/events.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <tuple>

#include "trace/model/record_times.h"
#include "trace/testing/in_blocks.h"
#include "trace/testing/synthetic.h"

namespace cairn::trace {
namespace {

// The example: these lines, as they stand, in the head comment of events.h.
int64_t ns_in_mpi(const Trace &trace) {
  int64_t sum = 0;
  for (const uint32_t rank : trace.ranks()) {
    Events events(trace, rank);
    while (const Event *event = events.next()) {
      sum += static_cast<int64_t>(event->timed ? event->duration_ns : events.typical_ns().value_or(0));
    }
    if (!events.end()) return -1;  // events.end().error() says why calls, or times, are not all there
  }
  return sum;
}

Trace traced(const std::vector<ProcessRecord> &processes, const char *timing) {
  Part part = *Part::of(processes[0]);
  for (size_t i = 1; i < processes.size(); ++i) part = *Part::merge(std::move(part), *Part::of(processes[i]));
  return *Trace::from_bytes(*part.to_file({"command", "mpi", "cairn", timing, "complete", 1, 2}), "test");
}

/// A call as it was recorded.
struct Recorded {
  uint64_t ticket = 0;
  uint32_t thread = 0;
  uint32_t segment = 0;
  uint32_t row = 0;
  bool timed = false;
  uint64_t begin_ns = 0;
  uint64_t duration_ns = 0;
};

std::vector<Recorded> recorded(const ProcessRecord &process) {
  std::map<uint32_t, std::vector<Recorded>> threads;
  size_t left = 0;
  for (const SequenceRecord &sequence : process.sequences) {
    const std::vector<grammar::Symbol> rows = sequence.calls.expand();
    const std::vector<grammar::Symbol> skips = sequence.order.expand();
    const std::optional<std::vector<timing::CallTime>> stored = read_times(sequence);
    EXPECT_TRUE(stored.has_value());
    const std::vector<timing::CallTime> times = stored.value_or(std::vector<timing::CallTime>());
    uint64_t ticket = sequence.first_ticket;
    timing::EndsByDepth<uint64_t> ends;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i != 0 && !skips.empty()) ticket += skips[i] + 1;
      Recorded call{ticket, sequence.thread, sequence.segment, rows[i], i < times.size(), 0, 0};
      if (call.timed) {
        const auto depth = static_cast<uint32_t>(group_of_row(sequence.rows[rows[i]]).depth);
        const uint64_t begin = ends.before(depth) + times[i].gap;
        call.begin_ns = sequence.begin_ns + begin;
        call.duration_ns = times[i].duration;
        ends.ended(depth, begin + call.duration_ns);
      }
      threads[call.thread].push_back(call);
      ++left;
    }
  }
  // Of the threads' next calls always the one with the lowest ticket.
  std::vector<Recorded> calls;
  std::map<uint32_t, size_t> at;
  for (; left != 0; --left) {
    const Recorded *first = nullptr;
    for (const auto &[thread, own] : threads) {
      if (at[thread] == own.size() || (first != nullptr && first->ticket <= own[at[thread]].ticket)) continue;
      first = &own[at[thread]];
    }
    ++at[first->thread];
    calls.push_back(*first);
  }
  return calls;
}

void expect_calls(const Trace &trace, const ProcessRecord &process) {
  Events events(trace, process.rank);
  uint64_t index = 0;
  for (const Recorded &call : recorded(process)) {
    const Event *event = events.next();
    ASSERT_NE(event, nullptr);
    ASSERT_EQ(std::tuple(event->rank, event->thread, event->segment, event->index),
              std::tuple(process.rank, call.thread, call.segment, index++));
    ASSERT_EQ(std::tuple(event->timed, event->begin_ns, event->duration_ns),
              std::tuple(call.timed, call.begin_ns, call.duration_ns));
    ASSERT_EQ(event->row, call.row);
    ASSERT_EQ(*event->values, trace.row(event->class_index, event->row, event->rank));
  }
  ASSERT_EQ(events.next(), nullptr);
  ASSERT_TRUE(events.end().has_value());
  ASSERT_EQ(events.next(), nullptr);  // and so it stays
}

TEST(Events, AreTheCallsOfAllThreadsInTheirOrder) {
  size_t threads = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const auto processes = random_program(7, seed);
    const Trace trace = traced(processes, "lossless");
    for (const ProcessRecord &process : processes) {
      expect_calls(trace, process);
      if (HasFatalFailure()) return;
      for (const SequenceRecord &sequence : process.sequences) threads += sequence.thread != 0 ? 1 : 0;
    }
    EXPECT_EQ(Events(trace, 7).next(), nullptr);
  }
  EXPECT_GT(threads, 0U);
}

TEST(Events, OfASequenceAreItsCalls) {
  const auto processes = lossless_program(5, 3);
  const Trace trace = traced(processes, "lossless");
  for (const ProcessRecord &process : processes) {
    for (const SequenceView &view : trace.sequences(process.rank)) {
      CallReader reader(trace, view);
      Events events(trace, view);
      while (const Event *event = events.next()) {
        ASSERT_EQ(event->call, reader.next());
        ASSERT_EQ(event->values->function, reader.call(event->call).function);
        ASSERT_TRUE(event->timed);
      }
      EXPECT_EQ(reader.next(), grammar::kNoSymbol);
    }
  }
}

TEST(Events, WithoutTimesHaveTypicalOnes) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto processes = random_program(6, seed);
    for (ProcessRecord &process : processes) {
      for (SequenceRecord &sequence : process.sequences) {
        sequence.times.clear();
        sequence.stats.assign(sequence.rows.size(), {});
        const std::vector<uint64_t> counts = sequence.calls.multiplicities();
        for (size_t row = 0; row < sequence.rows.size(); ++row) {
          timing::CallStats &stats = sequence.stats[row];
          stats.count = row < counts.size() ? counts[row] : 0;
          stats.minimum = stats.maximum = stats.count == 0 ? 0 : 100 + row;
          stats.sum = stats.count * (100 + row);
          stats.histogram[static_cast<size_t>(timing::CallStats::bucket(100 + row))] = stats.count;
        }
      }
    }
    const Trace trace = traced(processes, "stats");
    int64_t expected = 0;
    for (const ProcessRecord &process : processes) {
      Events events(trace, process.rank);
      EXPECT_FALSE(events.typical_ns().has_value());  // of no call
      while (const Event *event = events.next()) {
        ASSERT_EQ(events.typical_ns(), std::optional<uint64_t>(100 + event->row));
        expected += 100 + event->row;
      }
    }
    EXPECT_EQ(ns_in_mpi(trace), expected);
  }
}

/// Rows of a poll that succeeded or not, which statistics do not tell apart, have their common mean: nothing is
/// without.
TEST(Events, FoldedCallsHaveTypicalTimesToo) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const auto processes = polling_program(6, seed);
    const Trace trace = traced(processes, "stats");
    for (const uint32_t rank : trace.ranks()) {
      Events events(trace, rank);
      while (events.next() != nullptr) ASSERT_TRUE(events.typical_ns().has_value()) << "seed " << seed;
    }
  }
}

TEST(Events, EndWithTheErrorOfTimesThatAreDamaged) {
  const auto processes = lossless_program(6, 1);
  const InBlocks all = in_blocks(processes);
  Bytes file = all.file({"command", "mpi", "cairn", "lossless", "complete", 1, 2});
  const Result<Trace> good = Trace::from_bytes(file, "good");
  ASSERT_TRUE(good.has_value());
  int64_t expected = 0;
  for (const ProcessRecord &process : processes) {
    for (const Recorded &call : recorded(process)) expected += static_cast<int64_t>(call.duration_ns);
  }
  EXPECT_EQ(ns_in_mpi(*good), expected);
  file[40] ^= 1;  // in the first block
  const Result<Trace> bad = Trace::from_bytes(file, "bad");
  ASSERT_TRUE(bad.has_value());
  EXPECT_EQ(ns_in_mpi(*bad), -1);
}

TEST(Events, HaveTheStructureThatTheyAreWalkedIn) {
  const auto processes = polling_program(6, 2);
  const Trace trace = traced(processes, "stats");
  bool any_many = false;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    const Structure structure = structure_of(trace, index);
    EXPECT_EQ(structure.rules, &trace.class_view(index).calls->rules());
    ASSERT_EQ(structure.rows.size(), trace.class_view(index).rows);
    const uint32_t rank = trace.class_view(index).ranks.front();
    for (uint32_t row = 0; row < structure.rows.size(); ++row) {
      const Row values = trace.row(index, row, rank);
      EXPECT_EQ(structure.rows[row].function, values.function);
      EXPECT_EQ(structure.rows[row].site, values.site);
      any_many = any_many || structure.rows[row].many;
    }
  }
  EXPECT_TRUE(any_many);
}

/// The lines of a file between two lines, without what `prefix` is in front of them.
std::string lines_between(const std::string &path, const std::string &first, const std::string &last, size_t prefix) {
  std::ifstream in(path);
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    const std::string bare = line.size() < prefix ? "" : line.substr(prefix);
    inside = inside || bare == first;
    if (inside) text += bare + "\n";
    if (inside && bare == last) break;
  }
  return text;
}

TEST(Events, AreCountedAsTheyAreGiven) {
  const Trace trace = *Trace::from_bytes(*Part::of(lossless_program(1, 3)[0])->to_file({}), "test");
  EXPECT_EQ(trace.calls_given(), 0U);
  Events events(trace, 0);
  uint64_t calls = 0;
  while (events.next() != nullptr) ++calls;
  EXPECT_GT(calls, 0U);
  events = Events(trace, 0);              // what one has given is told when it ends
  EXPECT_EQ(trace.calls_given(), calls);  // their times' reader tells nothing
}

TEST(Events, AreReadAsTheHeaderSays) {
  const std::string header = lines_between(CAIRN_READ "events.h", "int64_t ns_in_mpi(const Trace &trace) {", "}", 5);
  const std::string here =
      lines_between(CAIRN_READ "events_test.cc", "int64_t ns_in_mpi(const Trace &trace) {", "}", 0);
  EXPECT_GT(here.size(), 300U);
  EXPECT_EQ(header, here);
}

}  // namespace
}  // namespace cairn::trace
