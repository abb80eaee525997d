#include "trace/values/fold_column.h"

#include <gtest/gtest.h>

#include <random>

#include "trace/values/rank_set.h"
#include "trace/values/values_column.h"

namespace cairn::trace {
namespace {

constexpr Atom kProcNull = special(kFirstConstant + 3);

using Values = std::vector<Atom>;

FoldColumn column_of(const Values &values, FoldColumn::Domain domain = FoldColumn::Domain::atoms) {
  FoldColumn column(domain);
  for (const Atom value : values) column.append(value);
  return column;
}

Bytes bytes_of(const FoldColumn &column) {
  ByteWriter out;
  column.write(out);
  return out.take();
}

void expect_holds(const FoldColumn &column, const Values &values, const char *what) {
  ASSERT_EQ(column.size(), values.size()) << what;
  EXPECT_EQ(column.expand(), values) << what;
  const Bytes bytes = bytes_of(column);
  ByteReader in(bytes);
  const FoldColumn back = FoldColumn::parse(in, column.domain());
  ASSERT_FALSE(in.failed()) << what;
  EXPECT_TRUE(in.at_end()) << what;
  EXPECT_EQ(back.expand(), values) << what;
  for (size_t i = 0; i < values.size(); i += 1 + values.size() / 97) {
    ASSERT_EQ(column.at(i), values[i]) << what << " at " << i;
    ASSERT_EQ(back.at(i), values[i]) << what << " at " << i;
  }
}

/// Concatenates along a random tree over random cuts.
FoldColumn random_tree(const Values &values, size_t begin, size_t end, std::mt19937 *random,
                       FoldColumn::Domain domain) {
  if (end - begin <= 1 || (*random)() % 8 == 0) {
    return column_of({values.begin() + static_cast<ptrdiff_t>(begin), values.begin() + static_cast<ptrdiff_t>(end)},
                     domain);
  }
  const size_t cut = begin + (*random)() % (end - begin + 1);
  FoldColumn left = random_tree(values, begin, cut, random, domain);
  left.append(random_tree(values, cut, end, random, domain));
  return left;
}

/// A binomial tree over single elements.
FoldColumn binomial(const Values &values) {
  std::vector<FoldColumn> level;
  for (const Atom value : values) level.push_back(FoldColumn::constant(value, 1));
  while (level.size() > 1) {
    std::vector<FoldColumn> next;
    for (size_t i = 0; i < level.size(); i += 2) {
      next.push_back(std::move(level[i]));
      if (i + 1 < level.size()) next.back().append(level[i + 1]);
    }
    level = std::move(next);
  }
  return level[0];
}

Values stencil(int rows, int columns, int row_step, int column_step) {
  Values values;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      const int nr = r + row_step;
      const int nc = c + column_step;
      const bool inside = nr >= 0 && nr < rows && nc >= 0 && nc < columns;
      values.push_back(inside ? nr * columns + nc : kProcNull);
    }
  }
  return values;
}

TEST(FoldColumn, ConstantAndAscendingAreTwoTerms) {
  EXPECT_EQ(FoldColumn::constant(42, 1000).terms(), 2U);
  EXPECT_EQ(bytes_of(FoldColumn::constant(42, 64)).size(), 7U);
  EXPECT_EQ(FoldColumn::constant(kProcNull, 1000).terms(), 1U);
  Values ascending;
  for (Atom i = 0; i < 1000; ++i) ascending.push_back(i);
  EXPECT_EQ(binomial(ascending).terms(), 2U);
  expect_holds(binomial(ascending), ascending, "ascending");
  EXPECT_EQ(FoldColumn::constant(42, 7).constant_value(), 42);
  EXPECT_EQ(FoldColumn::constant(kProcNull, 7).constant_value(), kProcNull);
  EXPECT_EQ(binomial(ascending).constant_value(), std::nullopt);
  expect_holds(FoldColumn(), {}, "empty");
}

TEST(FoldColumn, StencilsStaySmallAtEverySizeAndShape) {
  for (const auto &[rows, columns] : {std::pair{2, 2}, {4, 4}, {8, 8}, {7, 9}, {13, 5}, {32, 32}, {31, 33}, {64, 16}}) {
    for (const auto &[r, c] : {std::pair{0, 1}, {0, -1}, {1, 0}, {-1, 0}}) {
      const Values values = stencil(rows, columns, r, c);
      const FoldColumn tree = binomial(values);
      expect_holds(tree, values, "stencil");
      EXPECT_LE(bytes_of(tree).size(), 40U) << rows << "x" << columns << " " << r << c << ": " << tree.terms();
    }
  }
}

TEST(FoldColumn, TransposedExchangeAndButterflyStaySmall) {
  for (const int side : {4, 8, 12, 15, 32, 33}) {
    Values transposed;
    for (int i = 0; i < side * side; ++i) transposed.push_back(i % side * side + i / side);
    const FoldColumn tree = binomial(transposed);
    expect_holds(tree, transposed, "transposed");
    EXPECT_LE(tree.terms(), 16U) << side;
  }
  for (const int distance : {1, 4, 64}) {
    Values butterfly;
    for (int i = 0; i < 1024; ++i) butterfly.push_back(i ^ distance);
    const FoldColumn tree = binomial(butterfly);
    expect_holds(tree, butterfly, "butterfly");
    EXPECT_LE(tree.terms(), 16U) << distance;
  }
}

/// Tags of a multipartition on side² ranks, which name a cell (NAS BT): each row has its breaks where the one before
/// has them, but for one, which moves.
Values skewed(int side, int stage) {
  Values values;
  for (int i = 0; i < side * side; ++i) {
    const int column = i % side;
    const int row = i / side;
    values.push_back((column + row + side - stage) % side + side * ((stage + side - column) % side));
  }
  return values;
}

TEST(FoldColumn, SkewedRowsAreLagged) {
  for (const int side : {32, 33, 64, 100}) {
    for (const int stage : {0, 1, side / 2, side - 1}) {
      const Values values = skewed(side, stage);
      const FoldColumn tree = binomial(values);
      expect_holds(tree, values, "skewed");
      EXPECT_NE(tree.lag(), 0U) << side << ", stage " << stage;
      EXPECT_LE(tree.terms(), 48U) << side << ", stage " << stage;
      EXPECT_LE(bytes_of(tree).size(), 128U) << side << ", stage " << stage;
      FoldColumn copy = tree;
      EXPECT_TRUE(copy.same(tree));
      EXPECT_FALSE(copy.same(binomial(skewed(side, (stage + 2) % side))));
      copy.append(5);
      EXPECT_EQ(copy.lag(), 0U);
      Values more = values;
      more.push_back(5);
      expect_holds(copy, more, "skewed and one more");
    }
  }
}

TEST(FoldColumn, LaggedOnesTakeWhateverFollows) {
  std::mt19937 random(15);
  std::vector<Values> pieces = {skewed(32, 3),  skewed(32, 20), skewed(33, 5),  stencil(16, 16, 0, 1), {7}, {},
                                {1, kProcNull}, Values(40, 3),  Values(3000, 8)};
  Values irregular(700);
  for (Atom &value : irregular) value = static_cast<Atom>(random());
  pieces.push_back(irregular);
  pieces.push_back({INT64_MAX, kSpecialLast + 1, 0});
  size_t lagged = 0;
  for (int round = 0; round < 400; ++round) {
    FoldColumn column;
    Values values;
    for (uint64_t i = 0; i <= random() % 4; ++i) {
      const Values &piece = pieces[random() % (round % 2 == 0 ? 3 : pieces.size())];
      const size_t begin = random() % 3 == 0 ? random() % (piece.size() / 4 + 1) : 0;
      const Values part(piece.begin() + static_cast<ptrdiff_t>(begin), piece.end());
      if (!part.empty()) column.append(binomial(part));
      values.insert(values.end(), part.begin(), part.end());
    }
    expect_holds(column, values, "pieces");
    lagged += column.lag() != 0 ? 1 : 0;
  }
  EXPECT_GT(lagged, 100U);
}

TEST(FoldColumn, NoneBecomesTooLongForItsLag) {
  // Differences of 1 from the value two before: 1, 1, 2, 2, 3, 3, ….
  ByteWriter out;
  out.varint(9);
  out.varint(2);
  FoldColumn::constant(1, 2 * kMostLags).write(out);
  ByteReader in(out.view());
  const FoldColumn longest = FoldColumn::parse(in, FoldColumn::Domain::atoms);
  ASSERT_EQ(longest.lag(), 2U);
  Values values = longest.expand();
  FoldColumn twice = longest;
  twice.append(longest);
  const Values once = values;
  values.insert(values.end(), once.begin(), once.end());
  EXPECT_EQ(twice.lag(), 0U);
  expect_holds(twice, values, "twice the longest");
  FoldColumn more = longest;
  more.append(FoldColumn::constant(8, 3));
  values.resize(once.size());
  values.insert(values.end(), 3, 8);
  expect_holds(more, values, "longer than the longest");
}

TEST(FoldColumn, LagsThatCannotBeAreRefused) {
  // `differences`: the column that a lagged one has after its distance.
  const auto parses = [](uint64_t lag, const FoldColumn &differences) {
    ByteWriter out;
    out.varint(9);
    out.varint(lag);
    differences.write(out);
    ByteReader in(out.view());
    const FoldColumn column = FoldColumn::parse(in, FoldColumn::Domain::atoms);
    EXPECT_TRUE(!in.failed() || column.size() == 0);
    return !in.failed();
  };
  const FoldColumn ten = FoldColumn::constant(1, 10);
  EXPECT_TRUE(parses(1, ten));
  EXPECT_TRUE(parses(9, ten));
  EXPECT_FALSE(parses(0, ten));
  EXPECT_FALSE(parses(10, ten));
  EXPECT_FALSE(parses(1, FoldColumn()));
  EXPECT_TRUE(parses(2, FoldColumn::constant(1, 2 * kMostLags)));
  EXPECT_FALSE(parses(2, FoldColumn::constant(1, 2 * kMostLags + 2)));
  EXPECT_FALSE(parses(kLongestLag + 1, FoldColumn::constant(1, kMaxRanks)));
  EXPECT_FALSE(parses(1, column_of({1, kProcNull, 2})));
  EXPECT_FALSE(parses(1, binomial(skewed(32, 3)))) << "lagged twice";
  ByteWriter symbols;
  symbols.varint(9);
  symbols.varint(1);
  column_of({1, 2, 1}, FoldColumn::Domain::symbols).write(symbols);
  ByteReader in(symbols.view());
  FoldColumn::parse(in, FoldColumn::Domain::symbols);
  EXPECT_TRUE(in.failed());
}

TEST(FoldColumn, AnyTreeHoldsTheConcatenation) {
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    Values values;
    const size_t size = random() % 200;
    const size_t period = 1 + random() % 12;
    const auto alphabet = static_cast<Atom>(1 + random() % 6);
    for (size_t i = 0; i < size; ++i) {
      const bool copy = i >= period && random() % 16 != 0;
      if (copy) {
        values.push_back(is_special(values[i - period]) ? values[i - period] : values[i - period] + 3);
      } else {
        values.push_back(random() % 3 == 0 ? special(static_cast<uint16_t>(random() % 4096))
                                           : static_cast<Atom>(random()) % alphabet - 2);
      }
    }
    expect_holds(random_tree(values, 0, size, &random, FoldColumn::Domain::atoms), values, "random tree");
  }
}

TEST(FoldColumn, SymbolsAreRenamedInPlace) {
  std::mt19937 random(12);
  for (int round = 0; round < 500; ++round) {
    Values values(random() % 600);
    const bool regular = random() % 2 == 0;
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Atom>(regular ? i % 7 : random() % 5000);
    FoldColumn column = random_tree(values, 0, values.size(), &random, FoldColumn::Domain::symbols);
    expect_holds(column, values, "symbols");
    EXPECT_TRUE(column.symbols_below(5000));
    std::vector<uint32_t> to(5000);
    for (uint32_t i = 0; i < to.size(); ++i) to[i] = 100000 - i;
    column.rename(to);
    for (Atom &value : values) value = 100000 - value;
    expect_holds(column, values, "renamed");
    EXPECT_EQ(column.symbols_below(100000 - 4999), values.empty());
  }
}

TEST(FoldColumn, IrregularOnesAreKeptAsVarints) {
  std::mt19937_64 random(13);
  Values values;
  for (int i = 0; i < 5000; ++i) values.push_back(static_cast<Atom>(random() % 1000000));
  values[77] = kProcNull;
  values[78] = INT64_MAX;
  values[79] = kSpecialLast + 1;
  FoldColumn column = binomial(values);
  EXPECT_TRUE(column.irregular());
  expect_holds(column, values, "irregular");
  EXPECT_LT(bytes_of(column).size(), 5000U * 3 + 40);
  FoldColumn left = FoldColumn::constant(5, 100);
  left.append(column);
  left.append(FoldColumn::constant(6, 100));
  values.insert(values.begin(), 100, 5);
  values.insert(values.end(), 100, 6);
  expect_holds(left, values, "irregular in the middle");
}

TEST(FoldColumn, IrregularOnesInANarrowRangeTakeAsManyBytesForEach) {
  std::mt19937_64 random(3);
  const auto written = [](const std::vector<Atom> &values) {
    FoldColumn column;
    for (const Atom value : values) column.append(value);
    ByteWriter out;
    column.write_smallest(out);
    ByteReader in(out.view());
    const FoldColumn again = FoldColumn::parse(in, FoldColumn::Domain::atoms);
    EXPECT_TRUE(in.at_end() && !in.failed());
    EXPECT_EQ(again.expand(), values);
    return out.size();
  };
  for (const Atom least : {Atom{4000}, Atom{-4000}, Atom{1} << 40, kSpecialLast + 1, INT64_MAX - 255}) {
    std::vector<Atom> values;
    for (int i = 0; i < 500; ++i) values.push_back(least + static_cast<Atom>(random() % 256));
    EXPECT_LE(written(values), 520U) << least;
    values[250] = kNull;  // no number
    EXPECT_GT(written(values), 900U) << least;
  }
  std::vector<Atom> wide;
  for (int i = 0; i < 500; ++i) wide.push_back(1'000'000 + static_cast<Atom>(random() % 60'000));
  EXPECT_LE(written(wide), 1020U);
  for (Atom &value : wide) value = static_cast<Atom>(random() >> 1);
  written(wide);
}

TEST(FoldColumn, ExtremesDoNotOverflow) {
  const Values values = {INT64_MAX, kSpecialLast + 1, 0, INT64_MAX, kSpecialLast + 1, 0, kHole, -1, INT64_MAX};
  expect_holds(binomial(values), values, "extremes");
}

TEST(FoldColumn, HostileBytesFailAndAllocateLittle) {
  std::mt19937 random(14);
  const Bytes goods[] = {bytes_of(binomial(stencil(16, 16, 0, 1))), bytes_of(binomial(skewed(32, 3)))};
  for (int round = 0; round < 50000; ++round) {
    Bytes bytes = goods[round % 2];
    for (uint64_t i = 0; i <= random() % 4; ++i) bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    bytes.resize(random() % (bytes.size() + 1));
    for (const auto domain : {FoldColumn::Domain::atoms, FoldColumn::Domain::symbols}) {
      ByteReader in(bytes);
      const FoldColumn column = FoldColumn::parse(in, domain, 1 << 16);
      if (in.failed()) continue;
      ASSERT_LE(column.size(), 1U << 16);
      if (column.size() == 0) continue;
      EXPECT_EQ(column.expand().back(), column.at(column.size() - 1));
      EXPECT_EQ(column.expand().front(), column.at(0));
    }
  }
  // 2^60 values in a few bytes.
  ByteWriter bomb;
  bomb.varint(0);
  bomb.varint(2);
  bomb.varint(0);
  bomb.varint(uint64_t{1} << 62 | 1);
  bomb.signed_varint(1);
  const Bytes bytes = bomb.take();
  ByteReader in(bytes);
  EXPECT_EQ(FoldColumn::parse(in, FoldColumn::Domain::atoms).size(), 0U);
  EXPECT_TRUE(in.failed());
}

TEST(RankSet, FindsMembersAndRefusesWhatIsNotAscending) {
  RankSet set;
  for (uint32_t rank = 3; rank < 3000; rank += 7) set.append(rank);
  EXPECT_EQ(set.column().terms(), 2U);
  EXPECT_EQ(set.front(), 3U);
  EXPECT_EQ(set.index_of(3), 0U);
  EXPECT_EQ(set.index_of(703), 100U);
  EXPECT_EQ(set.index_of(704), std::nullopt);
  EXPECT_EQ(set.index_of(UINT32_MAX), std::nullopt);
  EXPECT_EQ(set.expand().size(), set.size());
  EXPECT_FALSE(RankSet::of(column_of({1, 2, 2})).has_value());
  EXPECT_FALSE(RankSet::of(column_of({1, 2, 1, 2, 1, 2})).has_value());
  EXPECT_FALSE(RankSet::of(column_of({-1, 2})).has_value());
  EXPECT_FALSE(RankSet::of(column_of({1, kProcNull})).has_value());
  EXPECT_FALSE(RankSet::of(column_of({1, kMaxRanks})).has_value());
  EXPECT_TRUE(RankSet::of(column_of({1, kMaxRanks - 1})).has_value());
}

TEST(Interleave, MergesAnyDisjointSets) {
  std::mt19937 random(15);
  for (int round = 0; round < 500; ++round) {
    RankSet left;
    RankSet right;
    Values left_values;
    Values right_values;
    Values all;
    std::vector<uint32_t> ranks;
    const auto kind = random() % 3;
    for (uint32_t rank = 0; rank < 100; ++rank) {
      if (random() % 5 == 0) continue;
      const bool to_left = kind == 0 ? random() % 2 == 0 : (kind == 1) == (rank < 40);
      const auto value = static_cast<Atom>(random() % 4);
      (to_left ? left : right).append(rank);
      (to_left ? left_values : right_values).push_back(value);
      all.push_back(value);
      ranks.push_back(rank);
    }
    const auto order = Interleave::of(left, right);
    ASSERT_TRUE(order.has_value());
    EXPECT_EQ(order->merged(left, right).expand(), ranks);
    EXPECT_EQ(order->merged(column_of(left_values), column_of(right_values)).expand(), all);
    if (left.empty()) continue;
    RankSet touching = RankSet(left.at(random() % left.size()));
    EXPECT_FALSE(Interleave::of(left, touching).has_value());
  }
}

TEST(ValuesColumn, MergesByContent) {
  std::mt19937 random(16);
  for (int round = 0; round < 300; ++round) {
    std::vector<Bytes> values;
    std::vector<ValuesColumn> parts;
    RankSet left;
    RankSet right;
    std::vector<Bytes> sides[2];
    for (uint32_t i = 0; i < 60; ++i) {
      const bool to_left = round % 2 == 0 ? i < 30 : random() % 2 == 0;
      (to_left ? left : right).append(i);
      values.push_back(Bytes(random() % 3, static_cast<uint8_t>(random() % 5)));
      sides[to_left ? 0 : 1].push_back(values.back());
    }
    const ValuesColumn merged = ValuesColumn::merged(ValuesColumn::of_each(sides[0]), ValuesColumn::of_each(sides[1]),
                                                     *Interleave::of(left, right));
    ASSERT_EQ(merged.size(), values.size());
    for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(merged.at(i), values[i]);
    EXPECT_LE(merged.values().size(), 11U);
    ByteWriter out;
    merged.write(out);
    ByteReader in(out.view());
    const ValuesColumn back = ValuesColumn::parse(in);
    ASSERT_FALSE(in.failed());
    for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(back.at(i), values[i]);
  }
}

}  // namespace
}  // namespace cairn::trace
