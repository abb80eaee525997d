// Fields along time, and rows whose values coincide on some ranks only: what is read back is what was recorded, in any
// tree, and ranks of one skeleton are one class.
#include "trace/fold/streams.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>

#include "trace/merge/part.h"
#include "trace/merge/part_body.h"
#include "trace/read/call_reader.h"
#include "trace/read/trace.h"

namespace cairn::trace {
namespace {

using Calls = std::vector<Row>;

/// A call: function and site are the same number; all fields are single atoms but the last, which is a list.
Row call(uint32_t function, const std::vector<Atom> &values, const std::vector<Atom> &list = {}) {
  Row row;
  row.function = function;
  row.site = function;
  for (const Atom value : values) row.fields.push_back({false, {value}, {}});
  row.fields.push_back({false, list, {}});
  return row;
}

ProcessRecord recorded(uint32_t rank, uint32_t size, const Calls &calls) {
  SequenceRecord sequence;
  std::map<Bytes, grammar::Symbol> known;
  std::vector<grammar::Symbol> symbols;
  uint32_t sites = 0;
  for (const Row &row : calls) {
    ByteWriter out;
    pack_row(row, out);
    Bytes packed = out.take();
    const auto [entry, added] = known.emplace(packed, static_cast<grammar::Symbol>(known.size()));
    if (added) {
      sequence.rows.push_back(std::move(packed));
      sequence.stats.emplace_back();
    }
    symbols.push_back(entry->second);
    timing::CallStats &stats = sequence.stats[entry->second];
    const uint64_t time = 100 + 7 * entry->second + rank;
    stats.minimum = stats.count == 0 ? time : std::min(stats.minimum, time);
    stats.maximum = std::max(stats.maximum, time);
    ++stats.count;
    stats.sum += time;
    ++stats.histogram[static_cast<size_t>(timing::CallStats::bucket(time))];
    sites = std::max(sites, row.site);
  }
  sequence.calls = grammar::Grammar::from_symbols(symbols);
  sequence.sites.emplace_back();
  for (uint32_t site = 1; site <= sites; ++site) sequence.sites.push_back({0, 1000 + site});
  ProcessRecord process;
  process.rank = rank;
  process.size = size;
  process.modules.push_back({{1, 2, 3}, "program"});
  process.sequences.push_back(std::move(sequence));
  return process;
}

Part merged(std::vector<Part> parts, const std::function<size_t(size_t)> &choose) {
  while (parts.size() > 1) {
    const size_t at = choose(parts.size() - 1);
    Result<Part> travelled = Part::parse(parts[at + 1].serialise());
    EXPECT_TRUE(travelled.has_value());
    Result<Part> both = Part::merge(std::move(parts[at]), *std::move(travelled));
    EXPECT_TRUE(both.has_value()) << (both ? "" : both.error().message);
    parts[at] = *std::move(both);
    parts.erase(parts.begin() + static_cast<ptrdiff_t>(at) + 1);
  }
  return std::move(parts[0]);
}

void expect_calls(const Trace &trace, const std::vector<Calls> &program) {
  for (uint32_t rank = 0; rank < program.size(); ++rank) {
    const std::vector<SequenceView> views = trace.sequences(rank);
    ASSERT_EQ(views.size(), 1U);
    CallReader reader(trace, views[0]);
    std::map<grammar::Symbol, uint64_t> counts;
    for (size_t i = 0; i < program[rank].size(); ++i) {
      const grammar::Symbol number = reader.next();
      ASSERT_NE(number, grammar::kNoSymbol);
      ASSERT_LE(number, counts.size());  // numbered in order of first occurrence
      ASSERT_EQ(reader.call(number), program[rank][i]) << "rank " << rank << " call " << i;
      ++counts[number];
    }
    ASSERT_EQ(reader.next(), grammar::kNoSymbol);
    // The same with counts, in some order.
    uint64_t distinct = 0;
    for (const CountedRow &counted : trace.counted_rows(views[0])) {
      bool found = false;
      for (const auto &[number, count] : counts) {
        if (count == counted.count && reader.call(number) == counted.row) found = true;
      }
      ASSERT_TRUE(found);
      ++distinct;
    }
    ASSERT_EQ(distinct, counts.size());
  }
}

struct Size {
  uint64_t bytes;
  uint32_t classes;
};

/// Merges the program in several trees, checks each, and says what the last one takes.
Size merge_and_check(const std::vector<Calls> &program, uint64_t seed = 1) {
  Size size{};
  std::mt19937_64 random(seed);
  const std::function<size_t(size_t)> trees[] = {
      [&random](size_t places) { return random() % places; },
      [](size_t) { return size_t{0}; },
      [](size_t places) { return places - 1; },
  };
  for (const auto &tree : trees) {
    std::vector<Part> parts;
    for (uint32_t rank = 0; rank < program.size(); ++rank) {
      parts.push_back(*Part::of(recorded(rank, static_cast<uint32_t>(program.size()), program[rank])));
    }
    const Result<Trace> trace = Trace::from_bytes(*merged(std::move(parts), tree).to_file({}), "test");
    EXPECT_TRUE(trace.has_value()) << (trace ? "" : trace.error().message);
    if (!trace) return {};
    expect_calls(*trace, program);
    const auto bytes = trace->section_bytes();
    size = {bytes.at("total") - bytes.at("meta") - bytes.at("timing") - bytes.at("sums"), trace->class_count()};
    // Every call has gone into the statistics once, whatever happened to the rows.
    uint64_t calls = 0;
    uint64_t expected = 0;
    for (const Calls &rank : program) expected += rank.size();
    for (uint32_t c = 0; c < trace->class_count(); ++c) {
      for (uint32_t row = 0; row < trace->class_view(c).rows; ++row) calls += trace->row_stats(c, row)->calls.count;
    }
    EXPECT_EQ(calls, expected);
  }
  return size;
}

TEST(Streams, CountersCostTheSameHoweverFarTheyCount) {
  const auto program = [](Atom steps) {
    std::vector<Calls> ranks(7);
    for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
      for (Atom step = 0; step < steps; ++step) {
        ranks[rank].push_back(call(1, {Atom{rank} + 1, step, 4096 * step}));
        ranks[rank].push_back(call(2, {5}));
      }
    }
    return ranks;
  };
  const Size few = merge_and_check(program(50));
  const Size many = merge_and_check(program(1000));
  EXPECT_EQ(few.classes, 1U);
  EXPECT_EQ(many.classes, 1U);
  EXPECT_LE(many.bytes, few.bytes + 8);
}

TEST(Streams, ValuesInAnotherOrderOnEachRankAreOneClass) {
  std::vector<Calls> ranks(9);
  std::mt19937_64 random(4);
  for (Calls &calls : ranks) {
    for (int step = 0; step < 60; ++step) {
      calls.push_back(call(1, {7, static_cast<Atom>(random() % 3)}));
      calls.push_back(call(2, {5}));
    }
  }
  EXPECT_EQ(merge_and_check(ranks).classes, 1U);
}

/// So many ranks, of which `irregular` send to somewhere else each time; values take two bytes.
std::vector<Calls> program_of(uint32_t ranks, const std::function<bool(uint32_t)> &irregular) {
  constexpr int kSteps = 300;
  std::vector<Calls> program(ranks);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    std::mt19937_64 random(rank + 1);
    for (int step = 0; step < kSteps; ++step) {
      program[rank].push_back(call(1, {irregular(rank) ? static_cast<Atom>(random() % 50000) : 8}));
      program[rank].push_back(call(2, {5}));
    }
  }
  return program;
}

TEST(Streams, AnOddRankCostsItsOwnValuesAndNothingElses) {
  const Size none = merge_and_check(program_of(8, [](uint32_t) { return false; }));
  for (const uint32_t ranks : {4U, 8U, 33U}) {
    for (const uint32_t odd : {0U, 1U, ranks - 1}) {
      const Size size = merge_and_check(program_of(ranks, [odd](uint32_t rank) { return rank == odd; }));
      EXPECT_EQ(size.classes, 1U);
      EXPECT_LE(size.bytes, none.bytes + 300 * 2 + 150) << odd << " of " << ranks;
    }
  }
}

TEST(Streams, FewIrregularRanksCostTheirValues) {
  const Size none = merge_and_check(program_of(8, [](uint32_t) { return false; }));
  for (const uint32_t ranks : {2U, 3U, 8U, 15U}) {
    const Size size = merge_and_check(program_of(ranks, [](uint32_t) { return true; }));
    EXPECT_EQ(size.classes, 1U);
    EXPECT_LE(size.bytes, none.bytes + uint64_t{ranks} * 300 * 2 + 150) << ranks;
  }
}

TEST(Streams, RanksThatMovedOtherFieldsAreComparedInTheUnion) {
  std::vector<Calls> ranks(6);
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    for (Atom step = 0; step < 40; ++step) {
      // One field counts on even ranks, another on odd ones.
      ranks[rank].push_back(call(1, {rank % 2 == 0 ? step : 3, rank % 2 == 0 ? 3 : 2 * step, Atom{rank}}));
    }
  }
  EXPECT_EQ(merge_and_check(ranks).classes, 1U);
}

TEST(Rows, ThatCoincideOnSomeRanksOnlyAreRefined) {
  // A five-point stencil with one call in a loop over the neighbours: at the edges some are equal.
  constexpr uint32_t kWidth = 7;
  constexpr uint32_t kHeight = 5;
  constexpr Atom kNobody = special(kFirstConstant);
  const auto program = [&](uint32_t width, uint32_t height) {
    std::vector<Calls> ranks(width * height);
    for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
      const uint32_t x = rank % width;
      const uint32_t y = rank / width;
      const Atom me = rank;
      const Atom neighbours[] = {x > 0 ? me - 1 : kNobody, x + 1 < width ? me + 1 : kNobody,
                                 y > 0 ? me - width : kNobody, y + 1 < height ? me + width : kNobody};
      for (int step = 0; step < 20; ++step) {
        for (const Atom neighbour : neighbours) ranks[rank].push_back(call(1, {neighbour, 9}));
        ranks[rank].push_back(call(2, {}));
      }
    }
    return ranks;
  };
  const Size small = merge_and_check(program(kWidth, kHeight));
  EXPECT_EQ(small.classes, 1U);
  const Size large = merge_and_check(program(2 * kWidth, 2 * kHeight));
  EXPECT_EQ(large.classes, 1U);
  EXPECT_LE(large.bytes, small.bytes + 40);
}

/// A stream in which one rank has these values, in that order.
Stream stream_of(uint32_t rank, const std::vector<Atom> &values) {
  std::map<Atom, grammar::Symbol> known;
  std::vector<grammar::Symbol> symbols;
  StreamVariant variant{RankSet(rank), false, nullptr, {}, {}};
  for (const Atom value : values) {
    const auto [entry, added] = known.emplace(value, static_cast<grammar::Symbol>(known.size()));
    symbols.push_back(entry->second);
    if (!added) continue;
    auto row = std::make_shared<ClassRow>();
    row->heads.push_back({FieldHead::atoms, 1});
    row->atoms = {value};
    variant.values.push_back(std::move(row));
  }
  variant.order = std::make_shared<const grammar::Grammar>(grammar::Grammar::from_symbols(symbols));
  variant.set_key();
  return {0, 0, {std::move(variant)}};
}

TEST(Streams, RanksWhoseValuesCoincideElsewhereShareAVariantHoweverTheirLoopsLie) {
  // 50 steps of 100 calls: all values differ, or but for ten they are the same: loops that begin in mid-step.
  std::vector<std::vector<Atom>> values(6);
  for (Atom i = 0; i < 5000; ++i) {
    const Atom place = i % 100;
    for (Atom rank = 0; rank < 6; ++rank) {
      const Atom first = 20 + 10 * rank;
      values[static_cast<size_t>(rank)].push_back(rank == 4                              ? 3 * place
                                                  : place < first || place >= first + 10 ? 7
                                                                                         : place + rank);
    }
  }
  for (const std::vector<uint32_t> &order :
       {std::vector<uint32_t>{4, 0, 1, 2, 3, 5}, {0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 5, 4}}) {
    Stream stream = stream_of(order[0], values[order[0]]);
    for (size_t i = 1; i < order.size(); ++i) {
      ASSERT_TRUE(merge_stream(&stream, stream_of(order[i], values[order[i]])));
    }
    ASSERT_EQ(stream.variants.size(), 1U);
    const StreamVariant &variant = stream.variants[0];
    EXPECT_EQ(variant.values.size(), 100U);
    const std::vector<grammar::Symbol> symbols = variant.order->expand();
    ASSERT_EQ(symbols.size(), 5000U);
    for (uint32_t rank = 0; rank < 6; ++rank) {
      for (size_t i = 0; i < symbols.size(); i += 7) {
        ASSERT_EQ(variant.values[symbols[i]]->at(rank).fields[0].atoms[0], values[rank][i]) << rank << ", " << i;
      }
    }
  }
}

TEST(Streams, RandomProgramsAreReadBack) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&random](uint64_t limit) { return static_cast<Atom>(random() % limit); };
    const uint64_t skeletons = 1 + random() % 2;
    const uint64_t range = 1 + random() % 12;
    const size_t steps = 1 + random() % 40;
    std::vector<Calls> ranks(1 + random() % 12);
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      for (size_t step = 0; step < steps; ++step) {
        const auto i = static_cast<Atom>(step);
        const bool odd = rank % skeletons != 0;
        const Atom value = below(3) == 0 ? special(static_cast<uint16_t>(below(3))) : below(range);
        std::vector<Atom> list(static_cast<size_t>(seed % 3 == 0 ? below(4) : 5));
        for (Atom &atom : list) atom = below(range) - 2;
        ranks[rank].push_back(call(1, {i, value, static_cast<Atom>(rank)}, list));
        if (odd || step % 3 == 0) ranks[rank].push_back(call(2, {below(2), INT64_MAX - i * below(2)}));
        for (Atom k = below(3); k > 0 && seed % 4 == 0; --k) ranks[rank].push_back(call(3, {value}));
      }
    }
    merge_and_check(ranks, seed);
  }
}

TEST(Statistics, ArePreservedForWhatEachRankToldApart) {
  // Two values on every rank, in opposite order: rows stay apart in the statistics of both halves.
  std::vector<Part> parts;
  for (uint32_t rank = 0; rank < 4; ++rank) {
    Calls calls;
    for (int step = 0; step < 10; ++step) {
      calls.push_back(call(1, {rank % 2 == 0 ? 1 : 2}));
      calls.push_back(call(1, {rank < 2 ? 1 : 2}));
    }
    parts.push_back(*Part::of(recorded(rank, 4, calls)));
  }
  const Part part = merged(std::move(parts), [](size_t) { return size_t{0}; });
  const ClassPart &only = part.body().classes.at(0);
  ASSERT_EQ(part.body().classes.size(), 1U);
  uint64_t ranks = 0;
  for (const StatsBlock &block : only.stats) {
    ranks += block.ranks.size();
    for (size_t slot = 0; slot < block.slots.size(); ++slot) {
      EXPECT_EQ(block.slots[slot].numbers().ranks, block.ranks.size());
      EXPECT_EQ(block.slots[slot].numbers().calls.count, block.calls_of(slot, only.calls->multiplicities()));
    }
  }
  EXPECT_EQ(ranks, 4U);
}

}  // namespace
}  // namespace cairn::trace
