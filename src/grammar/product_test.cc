#include "grammar/product.h"

#include <gtest/gtest.h>

#include "grammar/test_sequences.h"

namespace cairn::grammar {
namespace {

using Symbols = std::vector<Symbol>;

/// Expanded, the product is the two sequences; symbols are numbered in order of first occurrence.
void expect_pairs(const Product &product, const Symbols &left, const Symbols &right) {
  const Symbols pairs = product.pairs.expand();
  ASSERT_EQ(pairs.size(), left.size());
  Symbol next = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    ASSERT_LT(pairs[i], product.of.size());
    ASSERT_EQ(product.of[pairs[i]], std::pair(left[i], right[i])) << "at " << i;
    ASSERT_LE(pairs[i], next);
    if (pairs[i] == next) ++next;
  }
  EXPECT_EQ(next, product.of.size());
}

TEST(Product, HoldsBothSequences) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    TestSequences random(seed);
    Symbols left = random.of_kind(static_cast<int>(seed % TestSequences::kKinds), 1 + random.below(300));
    Symbols right = random.of_kind(static_cast<int>(random.below(TestSequences::kKinds)), left.size());
    const size_t length = std::min(left.size(), right.size());
    left.resize(length);
    right.resize(length);
    const auto found = product(Grammar::from_symbols(left), Grammar::from_symbols(right), 100'000);
    ASSERT_TRUE(found.has_value());
    expect_pairs(*found, left, right);
  }
}

TEST(Product, PairsLoopsOfDifferentLengthsWithoutExpanding) {
  // (0 1 2 3)^750,000,000 and (0 1 1 2 2 3)^500,000,000 meet every 12 symbols.
  const auto left = Grammar::from_rules({{{1, true, 750'000'000}}, {{0}, {1}, {2}, {3}}});
  const auto right = Grammar::from_rules({{{1, true, 500'000'000}}, {{0}, {1, false, 2}, {2, false, 2}, {3}}});
  const auto found = product(*left, *right, 100);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->pairs.length(), 3'000'000'000U);
  EXPECT_LE(term_count(found->pairs), 13U);
  const Symbols values[2] = {{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}, {0, 1, 1, 2, 2, 3, 0, 1, 1, 2, 2, 3}};
  Walker walker(found->pairs);
  for (size_t i = 0; i < 24; ++i) {
    ASSERT_EQ(found->of[walker.next()], std::pair(values[0][i % 12], values[1][i % 12]));
  }
}

TEST(Product, GoesIntoRulesOfOneSymbol) {
  // R0 = R1 1, R1 = R2, R2 = 0, as only a file has them.
  const Bytes bytes = {3, 2, 5, 4, 1, 5, 1, 6};
  ByteReader in(bytes);
  const auto odd = Grammar::parse(in, 2);
  ASSERT_TRUE(odd.has_value() && in.at_end());
  ASSERT_EQ(odd->expand(), (Symbols{0, 1}));
  ASSERT_EQ(odd->rules().size(), 3U);
  for (const Grammar &other : {Grammar::from_symbols({0, 1}), Grammar::from_symbols({5, 5}), *odd}) {
    const auto found = product(*odd, other, 100);
    ASSERT_TRUE(found.has_value());
    expect_pairs(*found, {0, 1}, other.expand());
    const auto turned = product(other, *odd, 100);
    ASSERT_TRUE(turned.has_value());
    expect_pairs(*turned, other.expand(), {0, 1});
  }
}

TEST(Product, RefusesOtherLengthsAndTooManySteps) {
  const Grammar three = Grammar::from_symbols({0, 1, 2});
  EXPECT_FALSE(product(three, Grammar::from_symbols({0, 1}), 100).has_value());
  EXPECT_FALSE(product(three, three, 2).has_value());
  EXPECT_TRUE(product(Grammar(), Grammar(), 0).has_value());
}

TEST(Coarsening, FindsWhatStandsWhereHoweverLoopsLie) {
  // (0 1 2 3 4 5)^10 against 0 0 then (1 1 2 0 0 0)^9 1 1 2 0: a loop out of phase.
  Symbols fine;
  Symbols coarse;
  const Symbols of = {0, 0, 1, 1, 2, 0};
  for (Symbol i = 0; i < 60; ++i) {
    fine.push_back(i % 6);
    coarse.push_back(of[i % 6]);
  }
  const Grammar fine_grammar = Grammar::from_symbols(fine);
  const Grammar coarse_grammar = Grammar::from_symbols(coarse);
  EXPECT_EQ(coarsening(fine_grammar, coarse_grammar, 60), of);
  EXPECT_FALSE(coarsening(coarse_grammar, fine_grammar, 60)) << "0 stands for 0, 1 and 5";
  EXPECT_FALSE(coarsening(fine_grammar, coarse_grammar, 59)) << "longer than may be gone through";
  EXPECT_FALSE(coarsening(fine_grammar, Grammar::from_symbols({0, 0, 1}), 60)) << "of another length";
  coarse[59] = 1;
  EXPECT_FALSE(coarsening(fine_grammar, Grammar::from_symbols(coarse), 60)) << "the last one differs";
}

TEST(Coarsening, RefusesSymbolsThatStandNowhere) {
  EXPECT_FALSE(coarsening(Grammar::from_symbols({0, 2, 0}), Grammar::from_symbols({0, 1, 0}), 60));
}

TEST(Renumbered, CountsInOrderOfFirstOccurrence) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    TestSequences random(seed);
    const Symbols symbols = random.of_kind(static_cast<int>(seed % TestSequences::kKinds), random.below(200));
    std::vector<Symbol> old;
    const Grammar result = renumbered(Grammar::from_symbols(symbols), &old);
    Symbols back = result.expand();
    Symbol next = 0;
    for (Symbol &symbol : back) {
      ASSERT_LE(symbol, next);
      next = std::max(next, symbol + 1);
      symbol = old[symbol];
    }
    EXPECT_EQ(back, symbols);
    EXPECT_EQ(old, first_occurrences(Grammar::from_symbols(symbols)));
  }
}

TEST(Reparsed, FindsWhatMappingLeft) {
  // A counter that is mapped to one symbol between two others: the rules know nothing of the loop.
  Symbols symbols;
  for (Symbol i = 0; i < 300; ++i) symbols.insert(symbols.end(), {1000, i, 1001});
  const Grammar mapped = Grammar::from_symbols(symbols).mapped([](Symbol s) { return s < 1000 ? 7 : s; });
  const Grammar anew = reparsed(mapped, 10'000);
  EXPECT_EQ(anew.expand(), mapped.expand());
  EXPECT_GT(term_count(mapped), 300U);
  EXPECT_LT(term_count(anew), 10U);
  EXPECT_EQ(reparsed(mapped, 10), mapped);
}

}  // namespace
}  // namespace cairn::grammar
