// What tests of folds have in common: recordings merged along any tree, and all that is read back held against what was
// recorded.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "trace/merge/part.h"
#include "trace/model/row_counts.h"
#include "trace/read/call_reader.h"
#include "trace/read/trace.h"

namespace cairn::trace {

using Choice = std::function<size_t(size_t)>;

inline Trace merged(const std::vector<ProcessRecord> &processes, const Choice &choose) {
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
inline void expect_sequence(const Trace &trace, const SequenceView &view, const SequenceRecord &recorded) {
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

inline void expect_same(const Trace &trace, const std::vector<ProcessRecord> &processes) {
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

}  // namespace cairn::trace
