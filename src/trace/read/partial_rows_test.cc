// Partial rows against the rows of which they are parts, and their cost where a loop has 10^12 turns.
#include "trace/read/partial_rows.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "trace/read/selected_reader.h"
#include "trace/testing/synthetic.h"

namespace cairn::trace {
namespace {

Trace trace_of(const std::vector<ProcessRecord> &processes) {
  Part all;
  for (const ProcessRecord &process : processes) {
    Result<Part> part = Part::of(process);
    EXPECT_TRUE(part.has_value()) << (part ? "" : part.error().message);
    Result<Part> joined = Part::merge(std::move(all), std::move(*part));
    EXPECT_TRUE(joined.has_value()) << (joined ? "" : joined.error().message);
    all = std::move(*joined);
  }
  Result<Trace> trace = Trace::from_bytes(*all.to_file({}), "test.cairn");
  EXPECT_TRUE(trace.has_value()) << (trace ? "" : trace.error().message);
  return std::move(*trace);
}

/// What is not asked for goes; of what is asked for as a constant, all but that. Modules are numbered as each rank
/// does.
Bytes part_of(Row row, const AskedFields &asked) {
  for (size_t f = 0; f < row.fields.size(); ++f) {
    Field &field = row.fields[f];
    if (f >= asked.size() || asked[f] == Asked::no) field = {};
    if (f < asked.size() && asked[f] == Asked::constant) {
      const Atom first = field.atoms.empty() || !is_special(field.atoms[0]) ? 0 : field.atoms[0];
      field = {false, {first}, {}};
    }
    for (size_t i = 0; i + 1 < field.atoms.size(); ++i) {
      if (field.atoms[i] == kStatic) field.atoms[i + 1] = 0;
    }
  }
  ByteWriter out;
  pack_row(row, out);
  return out.take();
}

using Counts = std::map<std::pair<uint32_t, Bytes>, uint64_t>;  // by class row and call

/// `never`: fields that are not asked for.
void expect_parts(const Trace &trace, uint64_t seed, const std::vector<size_t> &never = {}) {
  std::mt19937_64 random(seed);
  const std::vector<bool> all(trace.rank_count(), true);
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    std::map<uint32_t, AskedFields> asked;  // by function
    const auto asks = [&](const Structure::RowHead &head) {
      const auto [known, fresh] = asked.try_emplace(head.function);
      for (size_t f = 0; fresh && f < 64; ++f) known->second.push_back(static_cast<Asked>(random() % 3));
      for (const size_t f : never) {
        if (fresh) known->second[f] = Asked::no;
      }
      if (fresh && random() % 8 == 0) known->second.clear();
      return known->second;
    };
    std::map<uint32_t, Counts> partial;
    each_partial_row(trace, index, all, asks, [&](const PartialRow &each) {
      partial[each.rank][{each.class_row, part_of(*each.row, asked.at(each.row->function))}] += each.count;
    });
    std::map<uint32_t, Counts> alike;
    each_partial_row_alike(trace, index, all, asks, [&](const PartialRow &each, std::span<const uint32_t> ranks) {
      EXPECT_EQ(each.rank, ranks.front());
      EXPECT_TRUE(std::is_sorted(ranks.begin(), ranks.end()));
      for (const uint32_t rank : ranks) {
        alike[rank][{each.class_row, part_of(*each.row, asked.at(each.row->function))}] += each.count;
      }
    });
    EXPECT_EQ(alike, partial) << "class " << index << ", seed " << seed;
    const ClassView view = trace.class_view(index);
    for (const uint32_t rank : view.ranks) {
      Counts whole;
      for (const CountedRow &call : trace.counted_rows({rank, view.thread, view.segment, index, 0})) {
        const AskedFields &fields = asked.at(call.row.function);
        if (!fields.empty()) whole[{call.class_row, part_of(call.row, fields)}] += call.count;
      }
      EXPECT_EQ(partial[rank], whole) << "class " << index << ", rank " << rank << ", seed " << seed;
    }
  }
}

/// Calls, and what a field is in all of them together; nullopt: it is no number there, and part of the call.
using Sums = std::map<std::tuple<uint32_t, Bytes, bool>, std::pair<uint64_t, uint64_t>>;

/// One field, by function, is asked for as a sum.
void expect_sums(const Trace &trace, uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<bool> all(trace.rank_count(), true);
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    std::map<uint32_t, AskedFields> asked;
    std::map<uint32_t, size_t> summed;
    const auto asks = [&](const Structure::RowHead &head) {
      const auto [known, fresh] = asked.try_emplace(head.function);
      if (!fresh) return known->second;
      for (size_t f = 0; f < 64; ++f) known->second.push_back(static_cast<Asked>(random() % 2));
      summed[head.function] = random() % 6;
      known->second[summed[head.function]] = Asked::sum;
      return known->second;
    };
    const auto without = [&](Row row) {
      row.fields[summed.at(row.function)] = {};
      return part_of(row, asked.at(row.function));
    };
    std::map<uint32_t, Sums> found;
    each_partial_row(trace, index, all, asks, [&](const PartialRow &each) {
      auto &[count, sum] =
          found[each.rank][{each.class_row, part_of(*each.row, asked.at(each.row->function)), each.sum.has_value()}];
      count += each.count;
      sum += each.sum.value_or(0);
    });
    const ClassView view = trace.class_view(index);
    for (const uint32_t rank : view.ranks) {
      Sums whole;
      for (const CountedRow &call : trace.counted_rows({rank, view.thread, view.segment, index, 0})) {
        const std::vector<Field> &fields = call.row.fields;
        const size_t field = summed.at(call.row.function);
        const bool is_number = field < fields.size() && !fields[field].is_bytes && fields[field].atoms.size() == 1 &&
                               fields[field].atoms[0] >= 0 && !is_special(fields[field].atoms[0]);
        auto &[count, sum] = whole[{
            call.class_row, is_number ? without(call.row) : part_of(call.row, asked.at(call.row.function)), is_number}];
        count += call.count;
        if (is_number) sum += call.count * static_cast<uint64_t>(fields[field].atoms[0]);
      }
      EXPECT_EQ(found[rank], whole) << "class " << index << ", rank " << rank << ", seed " << seed;
    }
  }
}

TEST(PartialRows, AddUpWhatIsAskedForAsASum) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    expect_sums(trace_of(varying_program(6, seed)), seed);
    expect_sums(trace_of(random_program(5, seed)), seed);
    expect_sums(trace_of(polling_program(4, seed)), seed);
  }
}

TEST(PartialRows, ArePartsOfTheRows) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    expect_parts(trace_of(varying_program(6, seed)), seed);
    expect_parts(trace_of(random_program(5, seed)), seed);
    expect_parts(trace_of(exchanging_program(5, seed)), seed, {1, 3});  // displacements: running sums
    expect_parts(trace_of(partners_program(6, seed)), seed);
    expect_parts(trace_of(skewed_program(3, seed)), seed);
    expect_parts(trace_of(polling_program(4, seed)), seed);
  }
}

TEST(PartialRows, LeaveOutOtherRanks) {
  const Trace trace = trace_of({stencil_rank(0, 2, 2, 5), stencil_rank(1, 2, 2, 5), stencil_rank(2, 2, 2, 5)});
  std::vector<bool> ranks(trace.rank_count());
  ranks[1] = true;
  uint64_t calls = 0;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    each_partial_row(
        trace, index, ranks, [](const auto &) { return AskedFields{Asked::yes}; },
        [&](const PartialRow &each) {
          EXPECT_EQ(each.rank, 1U);
          calls += each.count;
        });
  }
  uint64_t wanted = 0;
  for (const SequenceView &sequence : trace.sequences(1)) {
    for (const uint64_t count : trace.row_counts(sequence)) wanted += count;
  }
  EXPECT_EQ(calls, wanted);
}

TEST(PartialRows, AreGivenOnceForRanksThatAreAlike) {
  std::vector<ProcessRecord> processes;
  for (uint32_t rank = 0; rank < 9; ++rank) processes.push_back(stencil_rank(rank, 3, 3, 5));
  const Trace trace = trace_of(processes);
  size_t each_rank = 0;
  size_t together = 0;
  const auto asks = [](const auto &) { return AskedFields(8, Asked::constant); };
  const std::vector<bool> all(trace.rank_count(), true);
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    each_partial_row(trace, index, all, asks, [&](const auto &) { ++each_rank; });
    each_partial_row_alike(trace, index, all, asks, [&](const auto &, const auto &) { ++together; });
  }
  EXPECT_LE(2 * together, each_rank);
}

/// MPI_Send in a loop of that many turns, of 1, 2, 3, 1, 2, 3, … elements to 1, 2, 1, 2, …
ProcessRecord sender(uint64_t turns) {
  ProcessRecord process;
  SequenceRecord sequence;
  constexpr uint32_t kSend = 30;  // any
  for (Atom i = 0; i < 6; ++i) {
    ByteWriter row;
    const Row call = {kSend,
                      0,
                      0,
                      {{false, {kNull, 0, 0}, {}},
                       {false, {1 + i % 3}, {}},
                       {false, {5, 0}, {}},
                       {false, {1 + i % 2}, {}},
                       {false, {i}, {}},
                       {false, {0}, {}},
                       {false, {0}, {}}}};
    pack_row(call, row);
    sequence.rows.push_back(row.take());
  }
  sequence.calls = *grammar::Grammar::from_rules(
      {{{1, true, turns}}, {{0, false, 1}, {1, false, 1}, {2, false, 1}, {3, false, 1}, {4, false, 1}, {5, false, 1}}});
  process.sequences.push_back(std::move(sequence));
  return process;
}

TEST(PartialRows, CostNoTurns) {
  constexpr uint64_t kTurns = 200'000'000'000;  // a second a thousandth of them would take
  const Trace trace = trace_of({sender(kTurns)});
  AskedFields asked(7, Asked::no);
  asked[1] = Asked::yes;  // count
  asked[3] = Asked::yes;  // dest
  std::map<std::pair<Atom, Atom>, uint64_t> counts;
  each_partial_row(
      trace, 0, {true}, [&](const auto &) { return asked; },
      [&](const PartialRow &each) {
        counts[{each.row->fields[1].atoms.at(0), each.row->fields[3].atoms.at(0)}] += each.count;
      });
  ASSERT_EQ(counts.size(), 6U);
  for (const auto &[values, count] : counts) EXPECT_EQ(count, kTurns);
}

TEST(SelectedReader, GivesTheCallsOfEvents) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    for (const auto &processes : {varying_program(4, seed), random_program(4, seed), partners_program(4, seed)}) {
      const Trace trace = trace_of(processes);
      for (const uint32_t rank : trace.ranks()) {
        for (const SequenceView &sequence : trace.sequences(rank)) {
          const auto chosen = [&](const Structure::RowHead &head) {
            return !head.many && (head.function + head.site + seed) % 2 == 0;
          };
          SelectedReader reader(trace, sequence, chosen);
          Events events(trace, sequence);
          while (const Event *event = events.next()) {
            if (!chosen(structure_of(trace, sequence.class_index).rows[event->row])) continue;
            const Row *row = reader.next();
            ASSERT_NE(row, nullptr);
            EXPECT_EQ(*row, *event->values);
          }
          EXPECT_EQ(reader.next(), nullptr);
        }
      }
    }
  }
}

}  // namespace
}  // namespace cairn::trace
