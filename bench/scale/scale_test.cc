// Every made-up program, on few ranks and through trees of many shapes: what is read back is what the program did.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "analyze/decode.h"
#include "scale/chance.h"
#include "scale/read_back.h"
#include "scale/reduction.h"
#include "trace/file/file.h"
#include "trace/model/derived_values.h"
#include "trace/model/request_arrays.h"

namespace cairn::scale {
namespace {

std::vector<uint32_t> all_ranks(uint32_t ranks) {
  std::vector<uint32_t> all(ranks);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

Setting setting_of(const Pattern &pattern, uint32_t ranks, uint32_t steps) {
  return {ranks, steps, Grid::of(ranks, std::max(1U, pattern.dimensions))};
}

/// The trace of a program; a failed expectation if there is none.
std::optional<trace::Trace> traced(Source *source, const Tree &tree) {
  Bytes bundles;
  Result<Reduced> reduced = reduce(source, tree, [&bundles](ByteView bundle) {
    bundles.insert(bundles.end(), bundle.begin(), bundle.end());
    return true;
  });
  EXPECT_TRUE(reduced) << reduced.error().message;
  if (!reduced) return std::nullopt;
  EXPECT_EQ(reduced->bundle_bytes, bundles.size());
  const std::optional<uint64_t> begin = bundles.empty() ? std::nullopt : std::optional<uint64_t>(0);
  Bytes file = *reduced->part.to_file({}, bundles.size(), begin);
  file.insert(file.begin() + trace::kHeaderBytes, bundles.begin(), bundles.end());
  Result<trace::Trace> trace = trace::Trace::from_bytes(std::move(file), "");
  EXPECT_TRUE(trace) << trace.error().message;
  if (!trace) return std::nullopt;
  return *std::move(trace);
}

class EveryPattern : public testing::TestWithParam<std::string> {
 protected:
  const Pattern &pattern() { return *find_pattern(GetParam()); }
};

TEST_P(EveryPattern, IsReadBackWhateverTheTree) {
  const std::vector<Tree> trees = {{Tree::Shape::binomial, 0},    {Tree::Shape::flat, 0},
                                   {Tree::Shape::interleaved, 0}, {Tree::Shape::random, 1},
                                   {Tree::Shape::binomial, 0, 0},  // every class in a bundle
                                   {Tree::Shape::random, 2, 2000}};
  uint32_t turn = 0;
  for (const uint32_t ranks : {1U, 2U, 3U, 4U, 5U, 7U, 9U, 12U, 13U, 16U, 19U, 25U, 27U, 31U, 36U, 40U}) {
    const Setting setting = setting_of(pattern(), ranks, 1 + ranks % 4);
    if (!unfit(pattern(), setting).empty()) continue;
    Source source(pattern(), setting, {ranks % 2 == 0});
    const Tree &tree = trees[turn++ % trees.size()];
    const std::optional<trace::Trace> trace = traced(&source, tree);
    ASSERT_TRUE(trace);
    const ReadBack back = read_back(*trace, &source, all_ranks(ranks));
    EXPECT_EQ(back.problem, "") << ranks << " ranks, tree " << static_cast<int>(tree.shape);
    EXPECT_GE(back.calls, ranks);
  }
}

/// The recorder's form of every field: the decoder, which the table of MPI drives, finds all of them in place.
TEST_P(EveryPattern, HasRowsLikeARecorders) {
  const uint32_t ranks = 16;
  Source source(pattern(), setting_of(pattern(), ranks, 3));
  const std::optional<trace::Trace> trace = traced(&source, {});
  ASSERT_TRUE(trace);
  const analyze::Sources sources(*trace);
  const analyze::Decoder decoder(*trace, sources);
  for (const uint32_t rank : all_ranks(ranks)) {
    const trace::SequenceView sequence = trace->sequences(rank).at(0);
    const trace::ProcessRecord record = source.record(rank);
    for (const Bytes &packed : record.sequences[0].rows) {
      ByteReader in(packed);
      trace::Row row = *trace::unpack_row(in);
      trace::expand_prefix_sums(&row);
      trace::expand_requests(&row);
      const analyze::Call call = decoder.decode(sequence.class_index, row);
      ASSERT_FALSE(call.malformed) << analyze::call_text(call);
    }
  }
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const Pattern &pattern : patterns()) result.push_back(pattern.name);
  return result;
}
INSTANTIATE_TEST_SUITE_P(Scale, EveryPattern, testing::ValuesIn(names()), [](const auto &each) {
  std::string name = each.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

/// What a rank holds while it merges goes with the bytes of its part, and what it needs to make its own: classes are
/// open in pairs, not all at once.
TEST(Memory, GoesWithTheBytesThatAreJoined) {
  for (const auto &[name, ranks] : {std::pair<std::string, uint32_t>{"fdlf", 96}, {"amr", 256}, {"random", 128}}) {
    const Pattern &pattern = *find_pattern(name);
    Source source(pattern, setting_of(pattern, ranks, 20));
    const Result<Reduced> reduced = reduce(&source, {}, [](ByteView bundle) { return bundle.empty(); });
    ASSERT_TRUE(reduced) << reduced.error().message;
    const Level &last = reduced->levels.back();
    const uint64_t bytes = reduced->part.serialise().size();
    EXPECT_LE(last.memory.greatest(), 4 * bytes + 4 * reduced->levels[0].memory.greatest()) << name;
  }
}

/// Where ranks are irregular, what a rank holds ends somewhere, however many there are.
TEST(Memory, IsBoundedByBundles) {
  const Pattern &pattern = *find_pattern("amr");
  // Bytes at the root; what a rank holds goes with them, see above.
  const auto bytes = [&pattern](uint32_t ranks, size_t bundles_from) {
    Source source(pattern, setting_of(pattern, ranks, 5));
    Tree tree;
    tree.bundles_from = bundles_from;
    const Result<Reduced> reduced = reduce(&source, tree, [](ByteView) { return true; });
    EXPECT_TRUE(reduced) << reduced.error().message;
    return reduced ? reduced->part.serialise().size() : 0;
  };
  constexpr size_t kLittle = 30'000;
  EXPECT_LT(bytes(512, kLittle), bytes(128, kLittle) * 3 / 2);
  EXPECT_GT(bytes(512, SIZE_MAX), bytes(128, SIZE_MAX) * 2);
}

/// A root that calls something for every rank keeps and tells no more for it than a tree of so many levels does.
TEST(Root, ThatTalksToEveryoneCostsTheLogarithm) {
  const Pattern &pattern = *find_pattern("fdlf-tree");
  struct Cost {
    uint64_t bytes = 0;
    uint64_t memory = 0;
  };
  const auto cost = [&pattern](uint32_t ranks) {
    Source source(pattern, setting_of(pattern, ranks, 10), {false});
    const Result<Reduced> reduced = reduce(&source, {}, [](ByteView bundle) { return bundle.empty(); });
    EXPECT_TRUE(reduced) << reduced.error().message;
    return reduced ? Cost{reduced->part.to_file({})->size(), reduced->levels.back().memory.greatest()} : Cost();
  };
  const Cost few = cost(64);
  const Cost many = cost(4096);
  EXPECT_LT(many.bytes, 2 * few.bytes);
  EXPECT_LT(many.memory, 3 * few.memory);
}

/// What some of the ranks send to each other is what they receive from each other, also where others are elsewhere.
TEST(Exchange, IsToldOnceAmongTheRanksOfAClass) {
  constexpr uint32_t kRanks = 256;
  constexpr uint32_t kFirst = 64;
  constexpr uint32_t kMembers = 128;
  const Pattern &pattern = *find_pattern("is");
  Source source(pattern, setting_of(pattern, kRanks, 1), {false});
  trace::Part part;
  std::vector<uint32_t> members;
  for (uint32_t rank = kFirst; rank < kFirst + kMembers; ++rank) {
    part = *trace::Part::merge(std::move(part), *trace::Part::of(source.record(rank)));
    members.push_back(rank);
  }
  const trace::Trace trace = *trace::Trace::from_bytes(*part.to_file({}), "some");
  // A byte for each count: 128 x 256 that are sent, as many received, half of which stand there already.
  EXPECT_LT(trace.section_bytes().at("columns"), 28 * kMembers * kRanks / 16);
  EXPECT_EQ(read_back(trace, &source, members).problem, "");
}

/// Bytes of the file without what is each rank's own, and without `meta`.
uint64_t size_of(const std::string &name, const Setting &setting) {
  Source source(*find_pattern(name), setting, {false});
  const std::optional<trace::Trace> trace = traced(&source, {});
  if (!trace) return 0;
  const std::map<std::string, uint64_t> bytes = trace->section_bytes();
  return bytes.at("total") - bytes.at("meta");
}

uint64_t size_of(const std::string &name, uint32_t ranks) {
  return size_of(name, setting_of(*find_pattern(name), ranks, 10));
}

TEST(Size, OfAStencilIsThatOfItsProgram) {
  using Grids = std::vector<std::vector<uint32_t>>;
  const Grids flat = {{8, 8}, {61, 67}, {50, 50}};
  const Grids solid = {{4, 4, 4}, {10, 10, 10}, {7, 11, 13}};
  for (const auto &[name, grids] : {std::pair<std::string, Grids>{"stencil2d5", flat},
                                    {"stencil2d5-onetag", flat},
                                    {"stencil3d7-periodic", solid},
                                    {"stencil3d7-onetag-periodic", solid}}) {
    uint64_t least = UINT64_MAX;
    uint64_t greatest = 0;
    for (const std::vector<uint32_t> &sides : grids) {
      const Grid grid(sides);
      const uint64_t size = size_of(name, {static_cast<uint32_t>(grid.size()), 10, grid});
      least = std::min(least, size);
      greatest = std::max(greatest, size);
    }
    EXPECT_LT(greatest, 900U) << name;
    EXPECT_LE(greatest, least + 40) << name;
  }
}

TEST(Size, GrowsSlowlyWithTheRanks) {
  // Half the logarithm of the ranks, to base 2, and half their square root.
  for (const char *name : {"cg", "vcycle"}) EXPECT_LE(size_of(name, 1024), 5 * size_of(name, 4)) << name;
  for (const char *name : {"bt", "sp"}) EXPECT_LE(size_of(name, 576), 12 * size_of(name, 4)) << name;
  // A tenth of what it may.
  EXPECT_LE(size_of("bt-onetag", 576), 6 * size_of("bt-onetag", 4) / 5);
}

/// Partners that follow no rule: each of a rank's takes four bytes, whatever is sent to it.
TEST(Size, OfIrregularPartnersIsAFewBytesEach) {
  const Pattern &pattern = *find_pattern("fdlf");
  for (const uint32_t ranks : {128U, 256U}) {
    Source source(pattern, setting_of(pattern, ranks, 10), {false});
    uint64_t pairs = 0;
    for (const uint32_t rank : all_ranks(ranks)) {
      std::set<Atom> partners;
      const trace::ProcessRecord record = source.record(rank);
      for (const Bytes &packed : record.sequences[0].rows) {
        ByteReader in(packed);
        const trace::Row row = *trace::unpack_row(in);
        if (row.function == spec::function_id::Isend) partners.insert(row.fields[3].atoms[0]);
      }
      pairs += partners.size();
    }
    EXPECT_LE(size_of("fdlf", ranks), 4 * pairs + 500) << ranks;
  }
}

TEST(ReadBack, SeesADifference) {
  const Pattern &pattern = *find_pattern("stencil2d5");
  Source made(pattern, setting_of(pattern, 12, 2));
  const std::optional<trace::Trace> trace = traced(&made, {});
  ASSERT_TRUE(trace);
  Source longer(pattern, setting_of(pattern, 12, 3));
  EXPECT_NE(read_back(*trace, &longer, all_ranks(12)).problem, "");
  Source shorter(pattern, setting_of(pattern, 12, 1));
  EXPECT_NE(read_back(*trace, &shorter, all_ranks(12)).problem, "");
  Source elsewhere(pattern, {12, 2, Grid({6, 2})});
  EXPECT_NE(read_back(*trace, &elsewhere, all_ranks(12)).problem, "");
  Source periodic(*find_pattern("stencil2d5-periodic"), setting_of(pattern, 12, 2));
  EXPECT_NE(read_back(*trace, &periodic, all_ranks(12)).problem, "");
}

/// Every message that is sent is received: pairs of (rank, peer, tag, words), both ways.
TEST_P(EveryPattern, SendsWhatIsReceived) {
  using Message = std::tuple<Atom, Atom, Atom, Atom, Atom>;  // from, to, tag, count, type
  namespace function = spec::function_id;
  if (GetParam() == "cg-skip-all") return;  // a structure that columns find hard, no program that would run
  for (const uint32_t ranks : {13U, 27U, 36U}) {
    const Setting setting = setting_of(pattern(), ranks, 2);
    if (!unfit(pattern(), setting).empty()) continue;
    Source source(pattern(), setting);
    std::map<Message, int64_t> open;
    for (const uint32_t rank : all_ranks(ranks)) {
      const trace::ProcessRecord record = source.record(rank);
      std::vector<trace::Row> rows;
      for (const Bytes &packed : record.sequences[0].rows) {
        ByteReader in(packed);
        rows.push_back(*trace::unpack_row(in));
      }
      const auto word = [](const trace::Row &row, size_t field) { return row.fields[field].atoms[0]; };
      const auto note = [&](const trace::Row &row, size_t data, bool sends) {
        Atom peer = word(row, data + 3);
        Atom tag = word(row, data + 4);
        Atom count = word(row, data + 1);
        if (peer == kProcNull) return;
        if (peer == kAnySource) {
          const std::vector<Atom> &status = row.fields[6].atoms;
          peer = status[0];
          tag = status[1];
          count = status[3] / 8;
        }
        // A vector of 32 is as long as 32 of its elements.
        const Atom type = word(row, data + 2);
        const bool derived = !trace::is_special(type);
        const Message message = sends ? Message{rank, peer, tag, derived ? 32 * count : count, 0}
                                      : Message{peer, rank, tag, derived ? 32 * count : count, 0};
        open[message] += sends ? 1 : -1;
      };
      for (const uint32_t call : source.calls(rank)) {
        const trace::Row &row = rows[call];
        if (row.function == function::Send || row.function == function::Isend) note(row, 0, true);
        if (row.function == function::Recv || row.function == function::Irecv) note(row, 0, false);
        if (row.function == function::Sendrecv) {
          note(row, 0, true);
          note(row, 5, false);
        }
      }
    }
    for (const auto &[message, times] : open) {
      ASSERT_EQ(times, 0) << ranks << " ranks: from " << std::get<0>(message) << " to " << std::get<1>(message)
                          << " tag " << std::get<2>(message) << " count " << std::get<3>(message);
    }
  }
}

TEST(Permutation, IsOne) {
  for (const uint32_t size : {1U, 2U, 3U, 17U, 64U, 1000U}) {
    const Permutation permutation(size, 99);
    std::vector<bool> hit(size);
    for (uint32_t i = 0; i < size; ++i) {
      const uint32_t to = permutation.forth(i);
      ASSERT_LT(to, size);
      EXPECT_FALSE(hit[to]);
      hit[to] = true;
      EXPECT_EQ(permutation.back(to), i);
    }
  }
}

TEST(Grid, IsAsSquareAsCanBe) {
  EXPECT_EQ(Grid::of(61 * 67, 2).sides(), (std::vector<uint32_t>{67, 61}));
  EXPECT_EQ(Grid::of(1 << 20, 2).sides(), (std::vector<uint32_t>{1024, 1024}));
  EXPECT_EQ(Grid::of(1 << 20, 3).sides(), (std::vector<uint32_t>{128, 128, 64}));
  EXPECT_EQ(Grid::of(1000, 3).sides(), (std::vector<uint32_t>{10, 10, 10}));
  EXPECT_EQ(Grid::of(13, 3).sides(), (std::vector<uint32_t>{13, 1, 1}));
}

}  // namespace
}  // namespace cairn::scale
