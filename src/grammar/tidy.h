// tidy: rules of any shape become the rules of a Grammar.
//
// Used by whatever makes a Grammar: extraction from a Builder, mapping, projection, concatenation. Equal neighbours
// merge; empty rules go; rules with one term become that term; rules with equal bodies become one; rules that stand
// once go into the place where they stand; the rest is numbered so that a rule refers only to higher numbers.
// Time and memory are linear in the terms. No recursion.
//
// It restores what makes rules small and comparable, not Sequitur's uniqueness of digrams: repetitions that mapping or
// projection brought about stay unseen, since finding them is parsing again (`reparsed`), which costs the symbols.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "grammar/grammar.h"

namespace cairn::grammar {

/// Rule numbers in an order in which every rule stands before those it refers to, from rule 0; rules that rule 0 does
/// not reach are left out. Nothing if there is a cycle or a reference to a rule that does not exist.
std::optional<std::vector<uint32_t>> users_first(const std::vector<Body> &rules);

/// The lengths of all rules, each referring only to higher numbers; nothing if one exceeds kMaxLength.
std::optional<std::vector<uint64_t>> rule_lengths(const std::vector<Body> &rules);

/// Of rules that refer only to higher numbers, each of which is reached from rule 0, and of the lengths of all. What
/// can stay where it is does: a copy of each rule would be most of what this costs.
void tidy(std::vector<Body> *rules, std::vector<uint64_t> *lengths);

/// Whether two neighbours are one term.
inline bool are_one(const Term &a, const Term &b) { return a.id == b.id && a.is_rule == b.is_rule; }

/// Adds a term at the end of a body, merging it with an equal neighbour.
inline void add_term(Body &body, const Term &term) {
  if (!body.empty() && are_one(body.back(), term)) {
    body.back().count += term.count;
  } else {
    body.push_back(term);
  }
}

}  // namespace cairn::grammar
