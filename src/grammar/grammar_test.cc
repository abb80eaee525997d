#include "grammar/grammar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "grammar/sequence_hash.h"
#include "grammar/test_sequences.h"

namespace cairn::grammar {
namespace {

using Symbols = std::vector<Symbol>;

Symbols cycle(const Symbols &body, int times) {
  Symbols out;
  for (int i = 0; i < times; ++i) out.insert(out.end(), body.begin(), body.end());
  return out;
}

Symbols counting(Symbol size) {
  Symbols out;
  for (Symbol i = 0; i < size; ++i) out.push_back(i);
  return out;
}

Bytes written(const Grammar &grammar) {
  ByteWriter out;
  grammar.write(out);
  return out.take();
}

Result<Grammar> parsed(const Bytes &bytes) {
  ByteReader in(bytes);
  return Grammar::parse(in);
}

/// Rules that double the one below, `depth` of them over two different symbols; 2^depth * 2 symbols.
Grammar tower(uint32_t depth) {
  std::vector<Body> rules;
  for (uint32_t i = 0; i + 1 < depth; ++i) rules.push_back({{i + 1, true, 1}, {5, false, 1}, {i + 1, true, 1}});
  rules.push_back({{0, false, 1}, {1, false, 1}});
  return *Grammar::from_rules(std::move(rules));
}

TEST(Grammar, IsGivenUpWhereItTakesTooManyTerms) {
  std::vector<Symbol> loop;
  std::vector<Symbol> distinct;
  for (Symbol i = 0; i < 3000; ++i) {
    loop.push_back(i % 3);
    distinct.push_back(i);
  }
  const std::optional<Grammar> small = Grammar::from_symbols(loop, 10);
  ASSERT_TRUE(small.has_value());
  EXPECT_EQ(small->expand(), loop);
  EXPECT_FALSE(Grammar::from_symbols(distinct, 10).has_value());
  EXPECT_FALSE(Grammar::from_symbols(distinct, 2990).has_value());
  const std::optional<Grammar> whole = Grammar::from_symbols(distinct, 3000);
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->expand(), distinct);
}

TEST(Grammar, ExactRules) {
  EXPECT_EQ(Grammar::from_symbols({}).rules(), (std::vector<Body>{{}}));
  EXPECT_EQ(Grammar::from_symbols({4}).rules(), (std::vector<Body>{{{4, false, 1}}}));
  EXPECT_EQ(Grammar::from_symbols(cycle({7}, 9)).rules(), (std::vector<Body>{{{7, false, 9}}}));
  EXPECT_EQ(Grammar::from_symbols({0, 1, 2}).rules(),
            (std::vector<Body>{{{0, false, 1}, {1, false, 1}, {2, false, 1}}}));
  EXPECT_EQ(Grammar::from_symbols(cycle({0, 1}, 5)).rules(),
            (std::vector<Body>{{{1, true, 5}}, {{0, false, 1}, {1, false, 1}}}));
  // An inner loop in an outer one, with something before and after.
  Symbols nested{9};
  for (int i = 0; i < 10; ++i) {
    nested.push_back(0);
    TestSequences::append(nested, cycle({1, 2}, 4));
  }
  nested.push_back(8);
  EXPECT_EQ(Grammar::from_symbols(nested).rules(), (std::vector<Body>{{{9, false, 1}, {1, true, 10}, {8, false, 1}},
                                                                      {{0, false, 1}, {2, true, 4}},
                                                                      {{1, false, 1}, {2, false, 1}}}));
}

TEST(Grammar, LoopsTakeFewBytes) {
  const Grammar loop = Grammar::from_symbols(cycle(counting(30), 1000));
  EXPECT_EQ(loop.rules()[0], (Body{{1, true, 1000}}));
  EXPECT_LE(written(loop).size(), 9U);
  // Thirty different symbols in no order: a byte each.
  Symbols shuffled;
  for (Symbol i = 0; i < 30; ++i) shuffled.push_back(i * 7 % 30);
  EXPECT_LE(written(Grammar::from_symbols(cycle(shuffled, 1000))).size(), 36U);
}

class EveryKind : public testing::TestWithParam<int> {
 protected:
  void for_each(int seeds, size_t size, const std::function<void(const Symbols &, TestSequences &)> &check) {
    for (int seed = 0; seed < seeds; ++seed) {
      TestSequences sequences(static_cast<uint64_t>(seed) * 7919);
      const Symbols symbols = sequences.of_kind(GetParam(), sequences.below(size));
      check(symbols, sequences);
      if (HasFatalFailure()) {
        ADD_FAILURE() << "seed " << seed;
        return;
      }
    }
  }
};

TEST_P(EveryKind, ComesBackFromBytes) {
  for_each(1000, 300, [](const Symbols &symbols, TestSequences &) {
    const Grammar grammar = Grammar::from_symbols(symbols);
    const auto back = parsed(written(grammar));
    ASSERT_TRUE(back.has_value()) << back.error().message;
    ASSERT_EQ(*back, grammar);
    ASSERT_EQ(back->length(), symbols.size());
    ASSERT_EQ(back->expand(), symbols);
  });
}

TEST_P(EveryKind, HashIsOfTheSequence) {
  for_each(300, 200, [](const Symbols &symbols, TestSequences &sequences) {
    const Grammar grammar = Grammar::from_symbols(symbols);
    Body flat;
    SequenceHash one_by_one;
    for (const Symbol symbol : symbols) {
      flat.push_back({symbol, false, 1});
      one_by_one = one_by_one.then(SequenceHash::of(symbol));
    }
    ASSERT_EQ(grammar.sequence_hash(), one_by_one.value());
    const size_t cut = sequences.below(symbols.size() + 1);
    const auto middle = symbols.begin() + static_cast<std::ptrdiff_t>(cut);
    const Grammar joined = Grammar::concatenated(Grammar::from_symbols({symbols.begin(), middle}),
                                                 Grammar::from_symbols({middle, symbols.end()}));
    ASSERT_EQ(joined.expand(), symbols);
    ASSERT_EQ(joined.sequence_hash(), grammar.sequence_hash());
    if (symbols.empty()) return;
    Symbols other = symbols;
    other[cut % other.size()] += 1;
    ASSERT_NE(Grammar::from_symbols(other).sequence_hash(), grammar.sequence_hash());
    other = symbols;
    other.pop_back();
    ASSERT_NE(Grammar::from_symbols(other).sequence_hash(), grammar.sequence_hash());
  });
}

TEST_P(EveryKind, CountsMapsAndProjects) {
  for_each(300, 300, [](const Symbols &symbols, TestSequences &sequences) {
    const Grammar grammar = Grammar::from_symbols(symbols);
    std::vector<uint64_t> counts;
    for (const Symbol symbol : symbols) {
      if (counts.size() <= symbol) counts.resize(symbol + 1);
      ++counts[symbol];
    }
    ASSERT_EQ(grammar.multiplicities(), counts);

    const Symbol fold = static_cast<Symbol>(1 + sequences.below(4));
    Symbols expected = symbols;
    for (Symbol &symbol : expected) symbol = symbol / fold + 3;
    const Grammar mapped = grammar.mapped([&](Symbol symbol) { return symbol / fold + 3; });
    ASSERT_EQ(mapped.expand(), expected);
    ASSERT_EQ(mapped.sequence_hash(), Grammar::from_symbols(expected).sequence_hash());

    const Symbol dropped = static_cast<Symbol>(sequences.below(6));
    expected = symbols;
    std::erase_if(expected, [&](Symbol symbol) { return symbol % 6 <= dropped; });
    const Grammar projected = grammar.projected([&](Symbol symbol) { return symbol % 6 > dropped; });
    ASSERT_EQ(projected.expand(), expected);
    ASSERT_EQ(projected.length(), expected.size());
    ASSERT_TRUE(parsed(written(projected)).has_value());
  });
}

TEST_P(EveryKind, WalksFromAnywhere) {
  for_each(100, 300, [](const Symbols &symbols, TestSequences &) {
    const Grammar grammar = Grammar::from_symbols(symbols);
    for (size_t start = 0; start <= symbols.size() + 1; ++start) {
      Walker walker(grammar, start);
      const size_t end = std::min(symbols.size(), start + 40);
      for (size_t at = std::min(start, symbols.size()); at < end; ++at) {
        ASSERT_EQ(walker.position(), at);
        ASSERT_EQ(walker.next(), symbols[at]) << "from " << start << " at " << at;
      }
      if (end == symbols.size()) {
        ASSERT_EQ(walker.next(), kNoSymbol);
        ASSERT_EQ(walker.position(), symbols.size());
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Grammar, EveryKind, testing::Range(0, TestSequences::kKinds));

TEST(Grammar, IsTidy) {
  // A rule that stands once, one that is empty, one with a single term, two that are equal, one that nobody uses.
  const Grammar grammar = *Grammar::from_rules({{{1, true, 2}, {2, true, 1}, {3, true, 3}, {4, true, 1}, {5, true, 1}},
                                                {{0, false, 1}, {1, false, 1}},
                                                {{7, false, 1}, {6, true, 1}},
                                                {{0, false, 1}, {1, false, 1}},
                                                {},
                                                {{8, false, 2}},
                                                {{8, false, 1}},
                                                {{1, false, 1}}});
  EXPECT_EQ(grammar.rules(),
            (std::vector<Body>{{{1, true, 2}, {7, false, 1}, {8, false, 1}, {1, true, 3}, {8, false, 2}},
                               {{0, false, 1}, {1, false, 1}}}));
}

TEST(Grammar, DeepGrammarsNeedNoStack) {
  // Each rule refers to the next one, with counts so that none goes away; 200,000 levels.
  constexpr uint32_t kDepth = 200'000;
  std::vector<Body> rules;
  for (uint32_t i = 0; i + 1 < kDepth; ++i) {
    rules.push_back({{i, false, 1}, {i + 1, true, 1}});
    // A second use keeps the rule without doubling lengths: start refers to a few.
  }
  rules.push_back({{0, false, 1}, {1, false, 1}});
  for (uint32_t i = 1; i < kDepth; i += 1000) rules[0].push_back({i, true, 1});
  const auto grammar = Grammar::from_rules(rules);
  ASSERT_TRUE(grammar.has_value());
  EXPECT_EQ(grammar->rules().size(), 201U);
  EXPECT_EQ(grammar->multiplicities().size(), kDepth - 1);
  Walker walker(*grammar, grammar->length() - 2);
  EXPECT_EQ(walker.next(), 0U);
  EXPECT_EQ(walker.next(), 1U);
  const auto back = parsed(written(*grammar));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->sequence_hash(), grammar->sequence_hash());
}

TEST(Grammar, LongSequences) {
  const Grammar high = tower(60);
  EXPECT_EQ(high.length(), (uint64_t{1} << 59) * 3 - 1);
  EXPECT_EQ(high.multiplicities()[0], uint64_t{1} << 59);
  Walker walker(high, high.length() - 3);
  EXPECT_EQ(walker.next(), 5U);
  EXPECT_EQ(walker.next(), 0U);
  EXPECT_EQ(walker.next(), 1U);
  EXPECT_EQ(walker.next(), kNoSymbol);
  EXPECT_EQ(*parsed(written(high)), high);
  EXPECT_TRUE(Grammar::from_rules({{{0, false, kMaxLength}}}).has_value());
  EXPECT_FALSE(Grammar::from_rules({{{0, false, kMaxLength}, {1, false, 1}}}).has_value());
  EXPECT_FALSE(Grammar::from_rules({{{1, true, UINT64_MAX}}, {{0, false, 2}}}).has_value());
}

TEST(Grammar, RefusesCycles) {
  EXPECT_FALSE(Grammar::from_rules({{{0, true, 1}}}).has_value());
  EXPECT_FALSE(Grammar::from_rules({{{1, true, 1}}, {{2, true, 1}}, {{1, true, 2}}}).has_value());
  EXPECT_FALSE(Grammar::from_rules({{{1, true, 1}}}).has_value());
}

struct Invalid {
  const char *name;
  Bytes bytes;
};

TEST(Grammar, RefusesInvalidBytes) {
  const std::vector<Invalid> cases = {
      {"nothing", {}},
      {"no rules", {0}},
      {"more rules than bytes", {0xff, 0xff, 0x03, 1, 0}},
      {"no terms", {1}},
      {"term cut short", {1, 2, 0}},
      {"more terms than bytes", {1, 0xff, 0xff, 0xff, 0x7f, 0}},
      {"rule out of range, of one", {1, 1, 5}},
      {"rule out of range, of two", {2, 1, 5 | 1 << 3, 1, 0}},
      {"rule without a use", {2, 1, 0, 1, 0}},
      {"empty rule", {2, 1, 5, 0}},
      {"symbol below 0", {1, 1, 1 << 1}},
      {"symbol is kNoSymbol", {1, 1, 0xfc, 0xff, 0xff, 0xff, 0x3f}},
      {"run longer than the rule", {1, 2, 3 | 1 << 3}},
      {"run too long", {1, 17, 3 | 15 << 3}},
      {"count cut short", {1, 1, 1}},
      {"count too large", {1, 1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}},
      {"too long in all", {1, 2, 1, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0}},
  };
  for (const Invalid &invalid : cases) {
    ByteReader in(invalid.bytes);
    const auto grammar = Grammar::parse(in);
    ASSERT_FALSE(grammar.has_value()) << invalid.name;
    EXPECT_EQ(grammar.error().kind, ErrorKind::unreadable) << invalid.name;
    EXPECT_LE(grammar.error().offset, invalid.bytes.size()) << invalid.name;
  }
  const Bytes symbols_0_to_2{1, 3, 3 | 1 << 3};
  for (const uint64_t limit : {0, 2}) {
    ByteReader in(symbols_0_to_2);
    EXPECT_FALSE(Grammar::parse(in, limit).has_value());
  }
  ByteReader in(symbols_0_to_2);
  EXPECT_EQ(Grammar::parse(in, 3)->expand(), counting(3));
}

/// What parses is a grammar in every respect: its operations work, and it is written as it was read or shorter.
void use(const Grammar &grammar) {
  const Bytes again = written(grammar);
  const auto back = parsed(again);
  ASSERT_TRUE(back.has_value());
  ASSERT_EQ(*back, grammar);
  ASSERT_EQ(grammar.projected([](Symbol) { return true; }).sequence_hash(), grammar.sequence_hash());
  for (const uint64_t from : {uint64_t{0}, grammar.length() / 2, grammar.length() - grammar.length() / 100}) {
    Walker walker(grammar, from);
    uint64_t steps = 0;
    while (steps < 100 && walker.next() != kNoSymbol) ++steps;
    ASSERT_EQ(steps, std::min<uint64_t>(100, grammar.length() - from));
  }
}

TEST(Grammar, SurvivesChangedBytes) {
  size_t valid = 0;
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    TestSequences sequences(seed);
    const int kind = static_cast<int>(sequences.below(TestSequences::kKinds));
    Bytes bytes = written(Grammar::from_symbols(sequences.of_kind(kind, sequences.below(150))));
    for (uint64_t i = 1 + sequences.below(3); i > 0 && !bytes.empty(); --i) {
      const size_t at = sequences.below(bytes.size());
      switch (sequences.below(4)) {
        case 0:
          bytes[at] = static_cast<uint8_t>(bytes[at] ^ 1U << sequences.below(8));
          break;
        case 1:
          bytes[at] = static_cast<uint8_t>(sequences.below(256));
          break;
        case 2:
          bytes.resize(at);
          break;
        default:
          bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), static_cast<uint8_t>(sequences.below(256)));
      }
    }
    const auto grammar = parsed(bytes);
    if (!grammar) continue;
    ++valid;
    use(*grammar);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(valid, 1000U);  // or this tests little
}

TEST(Grammar, SurvivesEveryTruncation) {
  TestSequences sequences(5);
  const Bytes bytes = written(Grammar::from_symbols(sequences.of_kind(3, 500)));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parsed(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size))).has_value());
  }
}

TEST(Grammar, WithoutItsLastSymbol) {
  for (const Symbols &symbols : {Symbols{3}, Symbols{1, 1, 1}, cycle({1, 2, 3}, 7), cycle(cycle({1, 2}, 3), 5),
                                 cycle({4, 5}, 9), counting(20)}) {
    Grammar grammar = Grammar::from_symbols(symbols);
    for (Symbols left = symbols; !left.empty();) {
      left.pop_back();
      grammar = grammar.without_last();
      EXPECT_EQ(grammar.expand(), left);
    }
  }
}

}  // namespace
}  // namespace cairn::grammar
