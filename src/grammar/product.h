// product: two sequences of the same length walked side by side, as a grammar over the pairs of symbols that stand at
// the same places; and what else compares sequences without expanding them.
//
// Where ranks do the same thing but their values coincide at different places, the pairs are the rows that tell all of
// them apart. Equal stretches of both grammars are paired rule by rule: loops of lengths that share a multiple become a
// loop over that multiple, and a pair of stretches that recurs is gone through once. Loops that are out of phase are
// expanded, within the budget.
//
// How: a cursor in each grammar, between two terms. If both stand before repetitions of stretches of lengths l and r,
// the least common multiple of l and r is the body of a loop that both have a whole number of: one term of the result,
// whose own pairing is put off and done once however often it comes (`Stretch`). Otherwise the longer one is entered.
// It ends where both do; since both sequences are equally long, neither is left over.
//
// Expanding both and numbering the pairs gives the same sequence, but costs the calls, not the terms: a loop of a
// million rounds a million steps, in every merge. Parsing the pairs anew as they come (as `reparsed` does) would also
// lose the loops of both: what comes out of this has them.
//
// Cost: proportional to the terms of the result. No recursion. Plain functions, no state.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "grammar/grammar.h"

namespace cairn::grammar {

struct Product {
  Grammar pairs;                              ///< symbols are numbered in order of first occurrence
  std::vector<std::pair<Symbol, Symbol>> of;  ///< what a symbol of `pairs` stands for: one of each sequence
};

/// Nothing if the lengths differ, or when it takes more than `most_steps` steps (a step gives a term or enters a rule).
std::optional<Product> product(const Grammar &left, const Grammar &right, size_t most_steps);

/// For each symbol of `fine` the one of `coarse` that stands wherever it stands; nothing if one stands for several, or
/// where the lengths differ or are above `most_symbols`. However loops lie in both: goes through both sequences, at a
/// few ns a symbol, up to the first place that tells that there is no such map.
std::optional<std::vector<Symbol>> coarsening(const Grammar &fine, const Grammar &coarse, uint64_t most_symbols);

/// The distinct symbols of a sequence in order of first occurrence. One visit of each rule.
std::vector<Symbol> first_occurrences(const Grammar &grammar);

/// The same sequence with symbols numbered in order of first occurrence; `old_symbol[new]` gets what they were.
Grammar renumbered(Grammar grammar, std::vector<Symbol> *old_symbol);

/// The same sequence parsed anew, if it has at most `most_symbols` symbols and gets fewer terms by it; mapping and
/// projection leave repetitions that the rules do not show. Linear in the symbols, a few ns each where they repeat.
Grammar reparsed(Grammar grammar, uint64_t most_symbols);

/// Terms in all rules: what a grammar costs.
size_t term_count(const Grammar &grammar);

}  // namespace cairn::grammar
