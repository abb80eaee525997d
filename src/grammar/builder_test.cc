#include "grammar/builder.h"

#include <gtest/gtest.h>

#include "grammar/grammar.h"
#include "grammar/test_audit.h"
#include "grammar/test_memory.h"
#include "grammar/test_sequences.h"

namespace cairn::grammar {
namespace {

using Symbols = std::vector<Symbol>;

class EveryKind : public testing::TestWithParam<int> {};

TEST_P(EveryKind, BuildsWhatItWasGiven) {
  for (uint64_t seed = 0; seed < 1200; ++seed) {
    TestSequences sequences(seed);
    const Symbols symbols = sequences.of_kind(GetParam(), sequences.below(seed % 100 == 0 ? 3000 : 200));
    for (const int mode : {0, 1, 2}) {
      const bool cursors = mode != 1;
      TestMemory memory(size_t{1} << 20);
      Builder builder(memory.arena(), {.cursors = cursors, .window = mode == 2 ? 20U : 1U << 17});
      for (const Symbol symbol : symbols) ASSERT_TRUE(builder.append(symbol));
      ASSERT_EQ(builder.length(), symbols.size());
      const auto grammar = Grammar::from(builder);
      ASSERT_TRUE(grammar.has_value()) << grammar.error().message << ", seed " << seed;
      ASSERT_EQ(grammar->expand(), symbols) << "seed " << seed << " cursors " << cursors;
      ASSERT_EQ(BuilderAudit::problem(builder), "") << "seed " << seed << " cursors " << cursors;
    }
  }
}

TEST_P(EveryKind, IsRightAfterEverySymbol) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    TestSequences sequences(seed);
    const Symbols symbols = sequences.of_kind(GetParam(), 150);
    TestMemory memory(size_t{1} << 20);
    Builder builder(memory.arena());
    Symbols so_far;
    for (const Symbol symbol : symbols) {
      ASSERT_TRUE(builder.append(symbol));
      so_far.push_back(symbol);
      const auto grammar = Grammar::from(builder);
      ASSERT_TRUE(grammar.has_value()) << grammar.error().message;
      ASSERT_EQ(grammar->expand(), so_far) << "seed " << seed;
      ASSERT_EQ(BuilderAudit::problem(builder), "") << "seed " << seed << " after " << so_far.size();
    }
  }
}

TEST_P(EveryKind, FillsAnArenaOfAnySize) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    TestSequences sequences(seed);
    const Symbols symbols = sequences.of_kind(GetParam(), 600);
    for (size_t size = 0; size < 80000; size += 64 + size / 16) {
      TestMemory memory(size);
      Builder builder(memory.arena());
      size_t taken = 0;
      while (taken < symbols.size() && builder.append(symbols[taken])) ++taken;
      if (taken < symbols.size()) {
        ASSERT_FALSE(builder.append(symbols[taken]));
        ASSERT_FALSE(builder.append(0));
        ASSERT_FALSE(builder.append(kNoSymbol));
        ASSERT_EQ(builder.predict(), kNoSymbol);
      }
      ASSERT_EQ(builder.length(), taken);
      const auto grammar = Grammar::from(builder);
      ASSERT_TRUE(grammar.has_value()) << grammar.error().message;
      ASSERT_EQ(grammar->expand(), Symbols(symbols.begin(), symbols.begin() + static_cast<std::ptrdiff_t>(taken)))
          << "size " << size << " seed " << seed;
      ASSERT_EQ(BuilderAudit::problem(builder), "") << "size " << size;
    }
  }
}

TEST_P(EveryKind, CursorsKeepItSmall) {
  size_t bytes[2] = {};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Symbols symbols = TestSequences(seed).of_kind(GetParam(), 4000);
    for (const bool cursors : {false, true}) {
      TestMemory memory(size_t{1} << 20);
      Builder builder(memory.arena(), {.cursors = cursors});
      for (const Symbol symbol : symbols) ASSERT_TRUE(builder.append(symbol));
      ByteWriter out;
      Grammar::from(builder)->write(out);
      bytes[cursors ? 1 : 0] += out.size();
    }
  }
  EXPECT_LE(static_cast<double>(bytes[1]), 1.25 * static_cast<double>(bytes[0]));
}

INSTANTIATE_TEST_SUITE_P(Builder, EveryKind, testing::Range(0, TestSequences::kKinds));

Symbols loop(Symbol body, size_t size) {
  Symbols out;
  for (size_t i = 0; i < size; ++i) out.push_back(static_cast<Symbol>(i % body));
  return out;
}

TEST(Builder, PredictsLoops) {
  for (const Symbol body : {1U, 2U, 3U, 17U, 500U, 4096U, 4097U, 20000U}) {
    TestMemory memory(size_t{16} << 20);
    Builder builder(memory.arena());
    const Symbols symbols = loop(body, size_t{body} * 6 + body / 2);
    for (size_t i = 0; i < symbols.size(); ++i) {
      // Two rounds show that it is a loop; the next one the cursor knows.
      if (i > size_t{body} * 3) {
        ASSERT_EQ(builder.predict(), symbols[i]) << "body " << body << " at " << i;
      }
      ASSERT_TRUE(builder.append(symbols[i]));
    }
    EXPECT_EQ(Grammar::from(builder)->expand(), symbols);
  }
}

TEST(Builder, LoopsTakeNoMemory) {
  TestMemory memory(size_t{1} << 20);
  Builder builder(memory.arena());
  for (size_t i = 0; i < 300; ++i) ASSERT_TRUE(builder.append(static_cast<Symbol>(i % 30)));
  const size_t used = memory.arena().used();
  for (size_t i = 0; i < 3'000'000; ++i) ASSERT_TRUE(builder.append(static_cast<Symbol>(i % 30)));
  EXPECT_EQ(memory.arena().used(), used);
  EXPECT_EQ(builder.length(), 3'000'300U);
}

TEST(Builder, ShortSequencesTakeLittleMemory) {
  TestMemory memory(size_t{1} << 20);
  Builder builder(memory.arena());
  for (Symbol i = 0; i < 20; ++i) ASSERT_TRUE(builder.append(i));
  EXPECT_LE(memory.arena().used(), 4096U);
}

TEST(Builder, WhatDoesNotRepeatTakesFewBytesASymbol) {
  constexpr size_t kLength = 2'000'000;
  TestMemory memory(size_t{32} << 20);
  Builder builder(memory.arena());
  for (size_t i = 0; i < kLength; ++i) ASSERT_TRUE(builder.append(static_cast<Symbol>(i)));
  EXPECT_LE(memory.arena().peak(), (size_t{9} << 20) + 2 * kLength);
  EXPECT_EQ(Grammar::from(builder)->length(), kLength);
}

TEST(Builder, SymbolsThatCameOnceTakeLittleMoreThanTheirNodes) {
  constexpr Symbol kLength = 100'000;
  TestMemory memory(size_t{32} << 20);
  Builder builder(memory.arena());
  for (Symbol i = 0; i < kLength; ++i) ASSERT_TRUE(builder.append(i));
  EXPECT_LE(memory.arena().used(), size_t{kLength} * (sizeof(detail::Node) + 6));
  EXPECT_EQ(BuilderAudit::problem(builder), "");
  // When they come again that is seen.
  for (Symbol i = 0; i < kLength; ++i) ASSERT_TRUE(builder.append(i));
  EXPECT_EQ(BuilderAudit::problem(builder), "");
  EXPECT_EQ(Grammar::from(builder)->rules().size(), 2U);
  EXPECT_EQ(Grammar::from(builder)->length(), 2 * uint64_t{kLength});
}

TEST(Builder, SymbolsMayBeNoNumbers) {
  // Far apart, some twice and some once, some between others that were there before.
  TestMemory memory(size_t{32} << 20);
  Builder builder(memory.arena());
  Symbols symbols;
  for (Symbol i = 0; i < 2000; ++i) {
    symbols.push_back(i * 37 % 1000 * 50);
    symbols.push_back(i);
    symbols.push_back(UINT32_MAX - 1 - i % 300);
  }
  for (const Symbol symbol : symbols) {
    ASSERT_TRUE(builder.append(symbol));
    ASSERT_EQ(BuilderAudit::problem(builder), "") << symbol;
  }
  EXPECT_EQ(Grammar::from(builder)->expand(), symbols);
}

TEST(Builder, ReleaseGivesEverythingBack) {
  for (const Symbol alphabet : {1U, 7U, 100'000U}) {
    TestMemory memory(size_t{32} << 20);
    Builder builder(memory.arena());
    uint64_t state = alphabet;
    for (int i = 0; i < 300'000; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      ASSERT_TRUE(builder.append(static_cast<Symbol>((state >> 33) % alphabet)));
    }
    EXPECT_GT(memory.arena().used(), 0U);
    builder.release();
    EXPECT_EQ(memory.arena().used(), 0U) << alphabet;
  }
}

TEST(Builder, DeepRules) {
  // Each round is the last one and a new symbol: rules nest without end.
  TestMemory memory(size_t{64} << 20);
  Builder builder(memory.arena());
  Symbols symbols;
  for (Symbol round = 1; round < 1500; ++round) {
    for (Symbol i = 0; i < round; ++i) symbols.push_back(i);
  }
  for (const Symbol symbol : symbols) ASSERT_TRUE(builder.append(symbol));
  EXPECT_EQ(BuilderAudit::problem(builder), "");
  EXPECT_EQ(Grammar::from(builder)->expand(), symbols);
}

}  // namespace
}  // namespace cairn::grammar
