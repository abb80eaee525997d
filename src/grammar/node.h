// The links of a grammar under construction: nodes (a term each) in rings, one ring a rule.
//
// Owned by a Builder, placed in its arena. A link is a 32-bit Ref, the distance from the arena's start in units of 32
// bytes plus one: half the size of a pointer, no table in between, and bounds are all there is to check before it
// may be followed in an arena that a dead process left behind. Reaches 128 GiB.
//
// Rings and not arrays, since rules change in their middle; a guard in each ring, so that no change is at an end; and
// worklists through the nodes themselves, so that restoring the properties needs no memory.
#pragma once

#include <cstdint>

namespace cairn::grammar {

using Symbol = uint32_t;
constexpr Symbol kNoSymbol = UINT32_MAX;

namespace detail {

using Ref = uint32_t;
constexpr Ref kNull = 0;
constexpr uint64_t kUnit = 32;

enum class Kind : uint8_t {
  free = 0,  ///< not in any ring
  symbol,    ///< id is a terminal
  rule,      ///< id is a Ref to a Rule
  guard,     ///< the ring's start and end, part of a Rule
};

struct Node {
  Ref prev;
  Ref next;
  uint32_t id;
  Ref pending;  ///< next in the worklist that this node is in
  uint64_t count;
  uint32_t hash;  ///< of the digram that starts here, while `hashed`
  Kind kind;
  bool hashed;  ///< the digram that starts here is in the table
  bool queued;  ///< in a worklist; not to be reused before it left it
  bool single;  ///< the only node of its symbol: no digram with it is in the table (single_symbols.h)
};
static_assert(sizeof(Node) == kUnit);

struct Rule {
  Node guard;  ///< next is the body's first node, prev its last; a Ref to the rule is a Ref to this
  uint64_t length;
  uint32_t uses;   ///< nodes that refer to this rule
  Ref users;       ///< XOR of these nodes, hence the last one's Ref when one is left: all that inlining needs of a list
  uint32_t first;  ///< the first terminal
  uint32_t unused;
  uint64_t pins;  ///< while not 0, it stays even if hardly used
};
static_assert(sizeof(Rule) == 2 * kUnit);

}  // namespace detail
}  // namespace cairn::grammar
