// The interpreter: by hand-made code, and every expression of the table against its translation to C++.
#include "spec/expression.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "spec/ids.h"

namespace {

using cairn::spec::Expression;
using cairn::spec::Operation;
using cairn::spec::Query;

int32_t code(Operation operation, int32_t operand = 0) { return static_cast<int32_t>(operation) | operand << 8; }

/// Arguments made up, and what was asked.
struct Env {
  std::array<int64_t, 16> words{};
  std::array<std::array<int64_t, 40>, 16> arrays{};
  std::array<int64_t, 32> answers{};
  std::array<int64_t, 512> constants{};
  int reads = 0;

  [[nodiscard]] int64_t argument(unsigned i) const { return words.at(i); }
  int64_t dereference(unsigned i) { return element(i, 0); }
  int64_t element(unsigned i, int64_t index) {
    ++reads;
    return index < 0 || index >= 40 ? 0 : arrays.at(i).at(static_cast<size_t>(index));
  }
  [[nodiscard]] int64_t constant(uint16_t id) const { return constants.at(id); }
  [[nodiscard]] int64_t query(Query what, unsigned i) const {
    return answers.at(static_cast<size_t>(what)) + static_cast<int64_t>(i);
  }
  [[nodiscard]] int64_t query(Query what, unsigned i, int64_t second) const { return query(what, i) + 3 * second; }
};

int64_t run(const std::vector<int32_t> &instructions) {
  Env env;
  return cairn::spec::evaluate(std::span<const int32_t>(instructions), env);
}

int32_t number(int32_t n) { return code(Operation::number, n); }

TEST(Expression, NothingIsZero) {
  Env env;
  EXPECT_EQ(cairn::spec::evaluate(Expression{}, env), 0);
}

TEST(Expression, Arithmetic) {
  EXPECT_EQ(run({number(7), number(-2), code(Operation::subtract)}), 9);
  EXPECT_EQ(run({number(7), number(-2), code(Operation::multiply)}), -14);
  EXPECT_EQ(run({number(7), number(2), code(Operation::divide)}), 3);
  EXPECT_EQ(run({number(7), number(2), code(Operation::minimum)}), 2);
  EXPECT_EQ(run({number(7), number(2), code(Operation::maximum)}), 7);
  EXPECT_EQ(run({number(0), code(Operation::negate)}), 1);
  EXPECT_EQ(run({number(5), code(Operation::negate)}), 0);
}

TEST(Expression, DivisionNeverTraps) {
  EXPECT_EQ(run({number(7), number(0), code(Operation::divide)}), 0);
  EXPECT_EQ(cairn::spec::apply(Operation::divide, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(cairn::spec::apply(Operation::multiply, INT64_MAX, 2), -2);
  EXPECT_EQ(cairn::spec::apply(Operation::add, INT64_MAX, 1), INT64_MIN);
}

TEST(Expression, ShortCircuitReadsNothing) {
  for (const auto jump : {Operation::and_jump, Operation::or_jump}) {
    const bool is_and = jump == Operation::and_jump;
    Env env;
    env.arrays[1][0] = 9;
    const std::vector<int32_t> instructions = {number(is_and ? 0 : 4), code(jump, 1), code(Operation::dereference, 1)};
    EXPECT_EQ(cairn::spec::evaluate(std::span<const int32_t>(instructions), env), is_and ? 0 : 4);
    EXPECT_EQ(env.reads, 0);
    const std::vector<int32_t> other = {number(is_and ? 4 : 0), code(jump, 1), code(Operation::dereference, 1)};
    EXPECT_EQ(cairn::spec::evaluate(std::span<const int32_t>(other), env), 9);
    EXPECT_EQ(env.reads, 1);
  }
}

TEST(Expression, AnyCodeEndsAndStaysInItsStack) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::vector<int32_t> instructions(random() % 40);
    for (int32_t &word : instructions) {
      // Operands that an Env may be asked for; jumps of any length, also backwards.
      const auto operation = static_cast<Operation>(random() % 30);
      const bool jumps = operation >= Operation::jump && operation <= Operation::or_jump;
      word = code(operation, jumps ? static_cast<int32_t>(random() % 60) - 20 : static_cast<int32_t>(random() % 15));
    }
    run(instructions);
  }
}

// The other translation: the names that oracle.py's text uses, on the same made-up arguments.
Env *now = nullptr;
struct Value {
  unsigned index;
};
int64_t raw(Value v) { return now->argument(v.index); }
int64_t at(Value v, int64_t index) { return now->element(v.index, index); }
int64_t sum(Value v, int64_t count) {
  int64_t total = 0;
  for (int64_t i = 0; i < count; ++i) total += at(v, i);
  return total;
}
#define ASK(name) \
  [[maybe_unused]] int64_t name(Value v) { return now->query(Query::name, v.index); }
ASK(rank)
ASK(local_size)
ASK(peer_size)
ASK(inter)
ASK(indegree)
ASK(outdegree)
ASK(weighted)
ASK(cart_ndims)
ASK(graph_nnodes)
ASK(graph_nedges)
ASK(extent)
ASK(envelope_integers)
ASK(envelope_addresses)
ASK(envelope_large_counts)
ASK(envelope_datatypes)
ASK(group_rank)
ASK(category_cvars)
ASK(category_pvars)
ASK(category_categories)
ASK(category_events)
#undef ASK
int64_t graph_neighbors_count(Value v, int64_t of) { return now->query(Query::graph_neighbors_count, v.index, of); }
struct Local {
  int64_t operator[](uint16_t id) const { return now->constant(id); }
} local;
namespace con = cairn::spec::constant_id;

struct Case {
  const char *name;
  std::vector<int32_t> code;
  int64_t (*text)();
};

#define UNPACK(...) __VA_ARGS__
#define CASE(name, code, values, ...) \
  {name, {UNPACK code}, [] {          \
     values;                          \
     return int64_t{__VA_ARGS__};     \
   }},
const std::vector<Case> kCases = {
#include "expression_cases.inc"
};
#undef CASE
#undef UNPACK

TEST(Expression, EveryExpressionOfTheTableAgreesWithItsCppText) {
  ASSERT_GT(kCases.size(), 100U);
  std::mt19937 random(7);
  // Small ranges, so that arguments often meet constants, answers and each other.
  const auto small = [&] { return static_cast<int64_t>(random() % 6) - 1; };
  for (const Case &item : kCases) {
    int nonzero = 0;
    for (int round = 0; round < 200; ++round) {
      Env env;
      for (auto &word : env.words) word = small();
      for (auto &array : env.arrays) {
        for (auto &word : array) word = small();
      }
      for (auto &answer : env.answers) answer = small();
      for (auto &constant : env.constants) constant = small();
      now = &env;
      const int64_t wanted = item.text();
      ASSERT_EQ(cairn::spec::evaluate(std::span<const int32_t>(item.code), env), wanted) << item.name;
      nonzero += wanted != 0 ? 1 : 0;
    }
    EXPECT_GT(nonzero, 0) << item.name;  // a case that is always 0 shows nothing
  }
}

}  // namespace
