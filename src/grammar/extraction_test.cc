// Extraction from an arena that another process left: whatever is in it, there is a grammar or an error.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "grammar/builder.h"
#include "grammar/grammar.h"
#include "grammar/test_memory.h"
#include "grammar/test_sequences.h"

namespace cairn::grammar {
namespace {

using Symbols = std::vector<Symbol>;

constexpr size_t kSize = 48 << 10;

/// A Builder that lies in its own arena.
struct Recording {
  explicit Recording(const Symbols &symbols, BuilderOptions options = {}) : memory(kSize) {
    builder = memory.arena().create<Builder>(memory.arena(), options);
    for (const Symbol symbol : symbols) builder->append(symbol);
  }
  TestMemory memory;
  Builder *builder;
};

/// Uses a grammar, if there is one, as a reader would.
bool usable(const Result<Grammar> &grammar) {
  if (!grammar) return false;
  ByteWriter out;
  grammar->write(out);
  ByteReader in(out.view());
  const auto back = Grammar::parse(in);
  EXPECT_TRUE(back.has_value() && *back == *grammar);
  Walker walker(*grammar, grammar->length() / 2);
  for (int i = 0; i < 100; ++i) walker.next();
  return true;
}

class EveryKind : public testing::TestWithParam<int> {};

TEST_P(EveryKind, AnyWordMayBeWrong) {
  size_t errors = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    TestSequences random(seed);
    Recording recording(random.of_kind(GetParam(), 50 + random.below(600)), {.window = seed % 3 == 0 ? 30U : 1U << 17});
    const Bytes before(recording.memory.bytes(), recording.memory.bytes() + kSize);
    const size_t used = recording.memory.arena().used();
    for (int i = 0; i < 150; ++i) {
      for (uint64_t changes = 1 + random.below(4); changes > 0; --changes) {
        const size_t at = random.below(used / 4) * 4;
        uint32_t word = 0;
        std::memcpy(&word, recording.memory.bytes() + at, 4);
        switch (random.below(4)) {
          case 0:
            word ^= 1U << random.below(32);
            break;
          case 1:
            word = static_cast<uint32_t>(random.below(used / 32 + 8));
            break;
          case 2:
            word = static_cast<uint32_t>(random.below(UINT64_MAX));
            break;
          default:
            word += 1;
        }
        std::memcpy(recording.memory.bytes() + at, &word, 4);
      }
      const auto base = reinterpret_cast<uintptr_t>(recording.memory.bytes());
      errors += usable(Grammar::from(*recording.builder, base, kSize)) ? 0 : 1;
      std::memcpy(recording.memory.bytes(), before.data(), kSize);
    }
    ASSERT_TRUE(usable(Grammar::from(*recording.builder)));
  }
  EXPECT_GT(errors, 500U);
}

/// What a kill in the middle of a change leaves: some pages of memory as they were earlier. Here every 64 bytes are a
/// page, and the order of writes is any.
TEST_P(EveryKind, PartsMayBeOlder) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    TestSequences random(seed);
    const Symbols symbols = random.of_kind(GetParam(), 400);
    Recording recording({});
    Bytes older(recording.memory.bytes(), recording.memory.bytes() + kSize);
    for (const Symbol symbol : symbols) {
      ASSERT_TRUE(recording.builder->append(symbol));
      const Bytes now(recording.memory.bytes(), recording.memory.bytes() + kSize);
      const size_t used = recording.memory.arena().used();
      for (size_t at = 0; at < used; at += 64) {
        if (random.below(2) == 0) std::memcpy(recording.memory.bytes() + at, older.data() + at, 64);
      }
      usable(Grammar::from(*recording.builder, reinterpret_cast<uintptr_t>(recording.memory.bytes()), kSize));
      std::memcpy(recording.memory.bytes(), now.data(), kSize);
      older = now;
    }
    ASSERT_EQ(Grammar::from(*recording.builder)->expand(), symbols);
  }
}

TEST_P(EveryKind, LessMayBeReadable) {
  TestSequences random(1);
  Recording recording(random.of_kind(GetParam(), 2000));
  const auto base = reinterpret_cast<uintptr_t>(recording.memory.bytes());
  const size_t used = recording.memory.arena().used();
  for (size_t readable = sizeof(Builder); readable < used; readable += 32) {
    // What was cut off would trip the address sanitizer if it lay in a block of its own.
    Bytes cut(recording.memory.bytes() + readable, recording.memory.bytes() + kSize);
    std::memset(recording.memory.bytes() + readable, 0xff, kSize - readable);
    usable(Grammar::from(*recording.builder, base, readable));
    std::memcpy(recording.memory.bytes() + readable, cut.data(), cut.size());
  }
  EXPECT_FALSE(Grammar::from(*recording.builder, base, 0).has_value());
  EXPECT_FALSE(Grammar::from(*recording.builder, base + 4096, kSize).has_value());
}

/// A killed writer: the mapping holds all it appended, at whatever instruction it was.
TEST_P(EveryKind, WriterIsKilled) {
  constexpr size_t kShared = 4 << 20;
  const Symbols symbols = TestSequences(3).of_kind(GetParam(), 30000);
  uint64_t appended = 0;
  constexpr int kRuns = 12;
  for (int run = 0; run < kRuns; ++run) {
    void *memory = mmap(nullptr, kShared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto *arena = new (memory) Arena(static_cast<uint8_t *>(memory) + 4096, kShared - 4096);
    auto *builder = arena->create<Builder>(*arena);
    const pid_t writer = fork();
    ASSERT_GE(writer, 0);
    if (writer == 0) {
      for (size_t i = 0;; ++i) {
        if (!builder->append(symbols[i % symbols.size()])) pause();
      }
    }
    usleep(static_cast<useconds_t>(500 + run * 400));
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    const auto grammar = Grammar::from(*builder, arena->base(), arena->limit());
    ASSERT_TRUE(grammar.has_value()) << grammar.error().message;
    Walker walker(*grammar);
    for (size_t i = 0; i < grammar->length(); ++i) {
      ASSERT_EQ(walker.next(), symbols[i % symbols.size()]) << "at " << i << " of " << grammar->length();
    }
    appended += grammar->length();
    munmap(memory, kShared);
  }
  EXPECT_GT(appended, 1000U);
}

/// The same at every instruction: the writer is stepped through its appends.
TEST_P(EveryKind, WriterStopsAnywhere) {
  constexpr size_t kShared = 1 << 20;
  constexpr int kSteps = 4000;
  const Symbols symbols = TestSequences(8).of_kind(GetParam(), 3000);
  void *memory = mmap(nullptr, kShared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto *arena = new (memory) Arena(static_cast<uint8_t *>(memory) + 4096, kShared - 4096);
  auto *builder = arena->create<Builder>(*arena, BuilderOptions{.window = 40});
  const size_t before = 150;  // there is something to change
  for (size_t i = 0; i < before; ++i) ASSERT_TRUE(builder->append(symbols[i]));
  const pid_t writer = fork();
  ASSERT_GE(writer, 0);
  if (writer == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
    raise(SIGSTOP);
    for (size_t i = before; i < symbols.size(); ++i) builder->append(symbols[i]);
    _exit(0);
  }
  int status = 0;
  waitpid(writer, &status, 0);
  if (!WIFSTOPPED(status)) GTEST_SKIP() << "tracing is not allowed here";
  uint64_t length = before;
  int in_steps = 0;
  for (int step = 0; step < kSteps; ++step) {
    ASSERT_EQ(ptrace(PTRACE_SINGLESTEP, writer, nullptr, nullptr), 0);
    waitpid(writer, &status, 0);
    if (!WIFSTOPPED(status)) break;
    const auto grammar = Grammar::from(*builder, arena->base(), arena->limit());
    ASSERT_TRUE(grammar.has_value()) << grammar.error().message << " at step " << step;
    ASSERT_TRUE(grammar->length() == length || grammar->length() == length + 1) << grammar->length();
    length = grammar->length();
    ASSERT_EQ(grammar->expand(), Symbols(symbols.begin(), symbols.begin() + static_cast<std::ptrdiff_t>(length)));
    in_steps += length > before ? 1 : 0;
  }
  if (WIFSTOPPED(status)) {
    kill(writer, SIGKILL);
    waitpid(writer, &status, 0);
  }
  EXPECT_GT(length, before);  // how far so many instructions lead depends on the build
  EXPECT_GT(in_steps, 1000);
  munmap(memory, kShared);
}

INSTANTIATE_TEST_SUITE_P(Extraction, EveryKind, testing::Range(0, TestSequences::kKinds));

}  // namespace
}  // namespace cairn::grammar
