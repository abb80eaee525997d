#include "grammar/prefix_sums.h"

#include <gtest/gtest.h>

#include <string>

#include "grammar/test_sequences.h"

namespace cairn::grammar {
namespace {

/// How often a symbol stands there.
struct Count {
  using Sum = uint64_t;
  using Kept = uint64_t;
  Symbol symbol = 0;
  static Sum nothing() { return 0; }
  void add(Sum *sum, Symbol next, uint64_t times) const { *sum += next == symbol ? times : 0; }
  static void add(Sum *sum, const Kept &rule, uint64_t times) { *sum += rule * times; }
  static Kept keep(const Sum &sum) { return sum; }
};

/// The sequence itself: what is added must stay in its order.
struct Written {
  using Sum = std::string;
  struct Kept {
    std::string text;
  };
  static Sum nothing() { return {}; }
  static void add(Sum *sum, Symbol next, uint64_t times) { sum->append(times, static_cast<char>('a' + next % 26)); }
  static void add(Sum *sum, const Kept &rule, uint64_t times) {
    for (uint64_t i = 0; i < times; ++i) *sum += rule.text;
  }
  static Kept keep(const Sum &sum) { return {sum}; }
};

TEST(PrefixSums, AreWhatAddingUpSymbolBySymbolGives) {
  TestSequences sequences(1);
  for (int kind = 0; kind < TestSequences::kKinds; ++kind) {
    for (const size_t size : {1, 40, 700}) {
      const std::vector<Symbol> symbols = sequences.of_kind(kind, size);
      const Grammar grammar = Grammar::from_symbols(symbols);
      const PrefixSums<Written> written(grammar);
      const Symbol counted = symbols[sequences.below(symbols.size())];
      const PrefixSums<Count> counts(grammar, {counted});
      std::string text;
      uint64_t count = 0;
      for (uint64_t n = 0;; ++n) {
        ASSERT_EQ(written.before(n), text) << "kind " << kind << " of " << size << " at " << n;
        ASSERT_EQ(counts.before(n), count);
        Walker walker(grammar, n, &counts.terms());
        ASSERT_EQ(walker.position(), n);
        ASSERT_EQ(walker.next(), n < symbols.size() ? symbols[n] : kNoSymbol);
        ASSERT_EQ(walker.next(), n + 1 < symbols.size() ? symbols[n + 1] : kNoSymbol);
        // As long as it has no more of them than up to here: up to where the next one stands.
        uint64_t end = n;
        while (end < symbols.size() && symbols[end] != counted) ++end;
        ASSERT_EQ(counts.longest([&](uint64_t sum) { return sum <= count; }), end);
        if (n == symbols.size()) break;
        count += symbols[n] == counted ? 1 : 0;
        Written::add(&text, symbols[n], 1);
      }
      EXPECT_EQ(written.before(symbols.size() + 5), text);
    }
  }
}

TEST(PrefixSums, OfTheEmptySequenceAreNothing) {
  const Grammar empty;
  const PrefixSums<Count> counts(empty, {0});
  EXPECT_EQ(counts.before(0), 0U);
  EXPECT_EQ(counts.before(3), 0U);
  EXPECT_EQ(counts.longest([](uint64_t) { return true; }), 0U);
}

TEST(PrefixSums, ReachIntoSequencesThatNobodyWalks) {
  // 2^62 symbols: 0 1 0 1 …
  const Grammar grammar = *Grammar::from_rules({{{1, true, uint64_t{1} << 61}}, {{0, false, 1}, {1, false, 1}}});
  const PrefixSums<Count> ones(grammar, {1});
  const uint64_t far = (uint64_t{1} << 61) + 12345;
  EXPECT_EQ(ones.before(far), far / 2);
  EXPECT_EQ(ones.longest([&](uint64_t sum) { return sum <= far / 2; }), far);
  EXPECT_EQ(Walker(grammar, far, &ones.terms()).next(), far % 2);
}

TEST(TermIndex, FindsTheTermsOfLongRules) {
  Body body;
  for (Symbol i = 0; i < 10 * TermIndex::kStride + 7; ++i) body.push_back({i, false, i % 3 + 1});
  const Grammar grammar = *Grammar::from_rules({body});
  const TermIndex index(grammar);
  EXPECT_EQ(index.positions().size(), 10U);
  const std::vector<Symbol> symbols = grammar.expand();
  for (uint64_t n = 0; n < symbols.size(); ++n) {
    const TermIndex::Mark mark = index.before(0, n);
    ASSERT_EQ(mark.term % TermIndex::kStride, 0U);
    ASSERT_LE(mark.position, n);
    ASSERT_LT(symbols[n] - mark.term, TermIndex::kStride);
    ASSERT_EQ(symbols[mark.position], mark.term);
  }
}

}  // namespace
}  // namespace cairn::grammar
