// Expression: evaluates the compiled lengths and conditions of the table (spec/README.md has the language).
//
// Header only, no state: any thread, also inside a signal handler, if the Env may. No allocation, no exception; every
// jump goes forward, so it ends after at most as many steps as there are instructions (a `sum` takes as many more as
// its array has elements). Code that the generator did not write may give nonsense, but never leaves the stack.
//
// Arithmetic wraps; a division by 0 gives 0; so does an expression that isn't there.
//
// Env says where the values come from:
//   int64_t argument(unsigned parameter)                     its word: an integer, a handle, an address
//   int64_t dereference(unsigned parameter)                  *p, by the parameter's Element; 0 if p is NULL
//   int64_t element(unsigned parameter, int64_t index)       p[index]
//   int64_t constant(uint16_t id)                            as this MPI library has it; INT64_MIN if it has none
//   int64_t query(Query what, unsigned parameter)            asks MPI about a handle; 0 if that fails
//   int64_t query(Query what, unsigned parameter, int64_t)   the same with a second value
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "spec/spec.h"

namespace cairn::spec {

/// What an expression can ask MPI. In step with QUERIES in language.py.
enum class Query : uint8_t {
  rank,                   ///< this process's, in a communicator
  local_size,             ///< of a communicator's local group
  peer_size,              ///< of the group that takes part on the other side: remote, or local of an intracommunicator
  inter,                  ///< 1 for an intercommunicator
  indegree,               ///< neighbours that send to this process, in any topology (Cartesian: 2 * dimensions)
  outdegree,              ///< neighbours it sends to
  weighted,               ///< 1 if the edges of a distributed graph have weights
  cart_ndims,             ///< dimensions of a Cartesian topology
  graph_nnodes,           ///< nodes of a graph topology
  graph_nedges,           ///< its edges
  graph_neighbors_count,  ///< neighbours of the given rank in a graph topology
  extent,                 ///< of a datatype, in bytes
  envelope_integers,      ///< of MPI_Type_get_envelope
  envelope_addresses,
  envelope_large_counts,
  envelope_datatypes,
  group_rank,      ///< this process's, in a group
  category_cvars,  ///< of MPI_T_category_get_info, by category index
  category_pvars,
  category_categories,
  category_events,
};

/// One int32 an instruction: operation in the low byte, operand above. In step with OPERATIONS in language.py.
enum class Operation : uint8_t {
  number,
  argument,
  dereference,
  element,
  sum,
  constant,
  query,
  query2,
  add,
  subtract,
  multiply,
  divide,
  equal,
  unequal,
  less,
  less_equal,
  greater,
  greater_equal,
  minimum,
  maximum,
  negate,        ///< not
  jump,          ///< forward by the operand
  jump_if_zero,  ///< takes the condition off the stack
  and_jump,      ///< leaves a 0 and jumps, or takes the value off
  or_jump,       ///< leaves a value that isn't 0 and jumps, or takes the 0 off
};

/// Sums `count` elements of an array parameter; at most as many as an int can count.
template <class Env>
int64_t sum_elements(Env &env, unsigned parameter, int64_t count) {
  uint64_t total = 0;
  count = std::min<int64_t>(count, std::numeric_limits<int32_t>::max());
  for (int64_t i = 0; i < count; ++i) total += static_cast<uint64_t>(env.element(parameter, i));
  return static_cast<int64_t>(total);
}

inline int64_t apply(Operation operation, int64_t left, int64_t right) {
  const auto a = static_cast<uint64_t>(left);
  const auto b = static_cast<uint64_t>(right);
  switch (operation) {
    case Operation::add:
      return static_cast<int64_t>(a + b);
    case Operation::subtract:
      return static_cast<int64_t>(a - b);
    case Operation::multiply:
      return static_cast<int64_t>(a * b);
    case Operation::divide:
      if (right == 0) return 0;
      return right == -1 ? static_cast<int64_t>(0 - a) : left / right;
    case Operation::equal:
      return left == right;
    case Operation::unequal:
      return left != right;
    case Operation::less:
      return left < right;
    case Operation::less_equal:
      return left <= right;
    case Operation::greater:
      return left > right;
    case Operation::greater_equal:
      return left >= right;
    case Operation::minimum:
      return std::min(left, right);
    case Operation::maximum:
      return std::max(left, right);
    default:
      return 0;
  }
}

template <class Env>
int64_t evaluate(std::span<const int32_t> code, Env &env) {
  if (code.size() == 1) {  // most lengths, and what is there if a flag says so
    const auto parameter = static_cast<unsigned>(code[0] >> 8);
    if (static_cast<Operation>(code[0] & 0xff) == Operation::argument) return env.argument(parameter);
    if (static_cast<Operation>(code[0] & 0xff) == Operation::dereference) return env.dereference(parameter);
  }
  constexpr unsigned kStack = 16;
  int64_t stack[kStack + 1] = {};  // stack[0] is what an underflow finds
  unsigned top = 0;
  const auto push = [&](int64_t value) {
    if (top < kStack) stack[++top] = value;
  };
  const auto pop = [&]() { return top == 0 ? 0 : stack[top--]; };
  for (size_t at = 0; at < code.size(); ++at) {
    const int32_t instruction = code[at];
    const auto operation = static_cast<Operation>(instruction & 0xff);
    const int32_t operand = instruction >> 8;
    const auto parameter = static_cast<unsigned>(operand);
    const auto about = static_cast<unsigned>(operand >> 8);
    const auto asked = static_cast<Query>(operand & 0xff);
    const auto skip = static_cast<size_t>(std::max(operand, 0));
    switch (operation) {
      case Operation::number:
        push(operand);
        break;
      case Operation::argument:
        push(env.argument(parameter));
        break;
      case Operation::dereference:
        push(env.dereference(parameter));
        break;
      case Operation::element:
        push(env.element(parameter, pop()));
        break;
      case Operation::sum:
        push(sum_elements(env, parameter, pop()));
        break;
      case Operation::constant:
        push(env.constant(static_cast<uint16_t>(operand)));
        break;
      case Operation::query:
        push(env.query(asked, about));
        break;
      case Operation::query2:
        push(env.query(asked, about, pop()));
        break;
      case Operation::negate:
        push(pop() == 0);
        break;
      case Operation::jump:
        at += skip;
        break;
      case Operation::jump_if_zero:
        if (pop() == 0) at += skip;
        break;
      case Operation::and_jump:
        if (stack[top] == 0) {
          at += skip;
        } else {
          pop();
        }
        break;
      case Operation::or_jump:
        if (stack[top] != 0) {
          at += skip;
        } else {
          pop();
        }
        break;
      default: {
        const int64_t right = pop();
        push(apply(operation, pop(), right));
      }
    }
  }
  return stack[top];
}

template <class Env>
int64_t evaluate(Expression expression, Env &env) {
  return evaluate(expression_code().subspan(expression.first, expression.count), env);
}

}  // namespace cairn::spec
