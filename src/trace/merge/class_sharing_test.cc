// What classes share in a file: ranks that leave a call out are another class, and cost what is different about them.
#include <gtest/gtest.h>

#include <map>

#include "trace/merge/part.h"
#include "trace/read/call_reader.h"
#include "trace/read/edit.h"
#include "trace/read/trace.h"

namespace cairn::trace {
namespace {

constexpr uint32_t kCalls = 40;
constexpr uint32_t kRanks = 32;

/// A loop over calls of kCalls sites but `without`: to the rank so far away, with a handle that the call before made,
/// named by its site as this rank numbers it.
std::vector<Row> calls_of(uint32_t rank, uint32_t without) {
  std::vector<Row> calls;
  uint32_t site = 0;
  for (uint32_t i = 0; i < kCalls; ++i) {
    if (i == without) continue;
    ++site;
    Row row;
    row.function = 100 + i % 3;
    row.site = site;
    row.fields = {{false, {static_cast<Atom>(rank) + 5 - i}, {}},
                  {false, {site > 1 ? Atom{site} - 1 : kNull, 0}, {}},
                  {false, {1000 + Atom{i} * i}, {}}};
    calls.push_back(std::move(row));
  }
  return calls;
}

ProcessRecord recorded(uint32_t rank, uint32_t without) {
  SequenceRecord sequence;
  sequence.sites.emplace_back();
  std::vector<grammar::Symbol> symbols;
  const std::vector<Row> calls = calls_of(rank, without);
  for (uint32_t i = 0; i < kCalls; ++i) {
    if (i != without) sequence.sites.push_back({0, 1000 + 64 * uint64_t{i}});
  }
  for (uint32_t i = 0; i < calls.size(); ++i) {
    ByteWriter out;
    pack_row(calls[i], out);
    sequence.rows.push_back(out.take());
    symbols.push_back(i);
  }
  sequence.calls = grammar::Grammar::from_symbols(symbols);
  ProcessRecord process;
  process.rank = rank;
  process.size = kRanks;
  process.modules.push_back({{1, 2, 3}, "program"});
  process.sequences.push_back(std::move(sequence));
  return process;
}

/// Which call the rank leaves out, of `kinds` kinds; the first leaves none out.
uint32_t left_out(uint32_t rank, uint32_t kinds) { return rank % kinds == 0 ? kCalls : 4 * (rank % kinds); }

uint64_t merged_bytes(uint32_t kinds) {
  Part part;
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    part = *Part::merge(std::move(part), *Part::of(recorded(rank, left_out(rank, kinds))));
  }
  const Result<Trace> trace = Trace::from_bytes(*part.to_file({}), "test");
  EXPECT_TRUE(trace.has_value()) << (trace ? "" : trace.error().message);
  if (!trace) return 0;
  EXPECT_EQ(trace->class_count(), kinds);
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    const std::vector<Row> calls = calls_of(rank, left_out(rank, kinds));
    const std::vector<SequenceView> views = trace->sequences(rank);
    EXPECT_EQ(views.size(), 1U);
    CallReader reader(*trace, views[0]);
    const std::vector<Site> sites = trace->sites(views[0].class_index);
    uint32_t i = 0;
    for (; i < calls.size(); ++i) {
      const grammar::Symbol number = reader.next();
      EXPECT_EQ(reader.call(number), calls[i]) << "rank " << rank << " call " << i;
      const uint32_t which = i < left_out(rank, kinds) ? i : i + 1;
      EXPECT_EQ(sites[calls[i].site].offset, 1000 + 64 * uint64_t{which});
    }
    EXPECT_EQ(reader.next(), grammar::kNoSymbol);
  }
  // What is read can be merged on, and written again.
  const Part again = to_part(*trace);
  EXPECT_EQ(*again.to_file({}), *part.to_file({}));
  const auto bytes = trace->section_bytes();
  return bytes.at("total") - bytes.at("meta");
}

TEST(ClassSharing, ARankThatLeavesACallOutCostsLittle) {
  const uint64_t one = merged_bytes(1);
  const uint64_t eight = merged_bytes(8);
  std::printf("%lu bytes of one class, %lu of eight\n", one, eight);
  // Its ranks, its sites and rows by runs, its grammar: not its rows.
  EXPECT_LE(eight, one + 7 * 24);
}

/// Calls with arrays that a column of few bytes tells; the last rank, of another class, makes another one before.
ProcessRecord with_arrays(uint32_t rank, uint32_t arrays, uint32_t elements) {
  SequenceRecord sequence;
  sequence.sites.emplace_back();
  std::vector<grammar::Symbol> symbols;
  const auto call = [&](uint64_t place, Field field) {
    Row row;
    row.function = 100;
    row.site = static_cast<uint32_t>(sequence.sites.size());
    row.fields.push_back(std::move(field));
    sequence.sites.push_back({0, place, 0});
    ByteWriter out;
    pack_row(row, out);
    symbols.push_back(static_cast<uint32_t>(sequence.rows.size()));
    sequence.rows.push_back(out.take());
  };
  if (rank == 1) call(8, {false, {1}, {}});
  for (uint32_t i = 0; i < arrays; ++i) {
    Field field;
    for (uint32_t k = 0; k < elements; ++k) field.atoms.push_back(Atom{i} + 2 * Atom{k});
    call(1000 + i, std::move(field));
  }
  sequence.calls = grammar::Grammar::from_symbols(symbols);
  ProcessRecord process;
  process.rank = rank;
  process.size = 2;
  process.modules.push_back({{1, 2, 3}, "program"});
  process.sequences.push_back(std::move(sequence));
  return process;
}

// A column of few bytes tells as many elements as it likes, and a reader takes only so many on trust.
TEST(ClassSharing, ArraysThatAreWrittenCanBeRead) {
  for (const auto &[arrays, elements] : {std::pair(1U, 4'300'000U), std::pair(4U, 600'000U), std::pair(40U, 60'000U)}) {
    const Part part =
        *Part::merge(*Part::of(with_arrays(0, arrays, elements)), *Part::of(with_arrays(1, arrays, elements)));
    const Result<Trace> trace = Trace::from_bytes(*part.to_file({}), "test");
    ASSERT_TRUE(trace.has_value()) << trace.error().message << ": " << arrays << " of " << elements;
    ASSERT_EQ(trace->class_count(), 2U);
    for (uint32_t rank = 0; rank < 2; ++rank) {
      for (uint32_t i = 0; i < arrays; ++i) {
        const Row row = trace->row(trace->sequences(rank)[0].class_index, i + rank, rank);
        ASSERT_EQ(row.fields[0].atoms.size(), elements);
        EXPECT_EQ(row.fields[0].atoms[elements - 1], Atom{i} + 2 * (Atom{elements} - 1));
      }
    }
  }
}

}  // namespace
}  // namespace cairn::trace
