// Grammar: an immutable sequence of symbols in compressed form: rules whose bodies are terms, a term being
// a symbol or a rule with a repetition count. Rule 0 is the start. A rule refers only to rules of higher
// number, so there are no cycles.
//
// Plain value type, heap memory, any thread may read it. Sequences reach 2^63 symbols; nothing here is proportional to
// that but `expand`. Nothing recurses: grammars can be deep, and stacks of MPI programs small.
//
// Bodies are vectors of terms, not the linked nodes of a Builder: what is merged, hashed, projected and written is read
// in order and never changed, and links would be half of its bytes. That rules refer upward only is what makes one pass
// enough: from the last rule to the first for lengths and hashes, from the first to the last for how often each is
// expanded.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "grammar/builder.h"

namespace cairn::grammar {

struct Term {
  uint32_t id = 0;  ///< a symbol, or a rule's number
  bool is_rule = false;
  uint64_t count = 1;  ///< how often it stands here in a row, at least 1
  auto operator<=>(const Term &) const = default;
};
using Body = std::vector<Term>;

/// The longest sequence a Grammar holds.
constexpr uint64_t kMaxLength = uint64_t{1} << 63;

class Grammar {
 public:
  Grammar() = default;  ///< the empty sequence

  /// The sequence that `builder` holds, which stays usable. Also for a Builder mapped back from a dead process's
  /// arena: a change that was cut off is seen as not begun; every link is checked, and what is damaged gives an error.
  static Result<Grammar> from(const Builder &builder);
  /// The same, trusting nothing in the Builder: the arena began at `base` and only its first `readable` bytes are
  /// there.
  static Result<Grammar> from(const Builder &builder, uintptr_t base, size_t readable);
  static Grammar from_symbols(const std::vector<Symbol> &symbols);
  /// The same, unless it takes more than about so many terms: then nothing, as soon as that is seen.
  static std::optional<Grammar> from_symbols(const std::vector<Symbol> &symbols, size_t most_terms);
  /// The same sequence, parsed anew in order; nothing as soon as that takes more than about so many terms. A few ns a
  /// symbol where they repeat.
  [[nodiscard]] std::optional<Grammar> parsed_anew(size_t most_terms) const;
  /// Reads what `write` wrote. Symbols must be below `symbol_limit`: give the number of things they stand for, since
  /// `multiplicities` makes an array of that size.
  static Result<Grammar> parse(ByteReader &in, uint64_t symbol_limit = kNoSymbol);
  void write(ByteWriter &out) const;
  /// From rules in any order and shape, as long as they have no cycle; rule 0 is the start.
  static Result<Grammar> from_rules(std::vector<Body> rules);

  [[nodiscard]] uint64_t length() const { return lengths_.empty() ? 0 : lengths_[0]; }
  [[nodiscard]] bool empty() const { return length() == 0; }
  /// Identity of the SEQUENCE, however it was parsed (composes over concatenation and powers). Costs a visit
  /// of each term.
  [[nodiscard]] Hash128 sequence_hash() const;
  /// Of the sequence with map(symbol) for each symbol.
  [[nodiscard]] Hash128 sequence_hash(const std::function<Symbol(Symbol)> &map) const;
  /// At least one, rule 0; its body is empty for the empty sequence only.
  [[nodiscard]] const std::vector<Body> &rules() const { return rules_; }
  /// Length of each rule's expansion.
  [[nodiscard]] const std::vector<uint64_t> &lengths() const { return lengths_; }
  /// Occurrences of each symbol; index = symbol, size = largest symbol + 1. One visit of each rule.
  [[nodiscard]] std::vector<uint64_t> multiplicities() const;
  /// How often each rule is expanded in the whole sequence. Rule 0: once.
  [[nodiscard]] std::vector<uint64_t> rule_multiplicities() const;
  /// Every symbol once replaced by map(symbol).
  [[nodiscard]] Grammar mapped(const std::function<Symbol(Symbol)> &map) const;
  /// `number[symbol]` for each symbol, where different symbols get different ones: the rules stay as they are.
  static Grammar renamed(Grammar grammar, const std::vector<Symbol> &number);
  /// Symbols for which keep(symbol) is false are dropped, rule by rule.
  [[nodiscard]] Grammar projected(const std::function<bool(Symbol)> &keep) const;
  /// `first` and then `second`, whose rules it shares where they are equal. Their lengths' sum must not
  /// exceed kMaxLength.
  static Grammar concatenated(const Grammar &first, const Grammar &second);
  /// All but the last symbol, of which there must be one.
  [[nodiscard]] Grammar without_last() const;
  [[nodiscard]] std::vector<Symbol> expand() const;  ///< for tests and short sequences

  /// The same rules, not only the same sequence.
  bool operator==(const Grammar &other) const { return rules_ == other.rules_; }

 private:
  std::vector<Body> rules_{1};
  std::vector<uint64_t> lengths_{0};
};

class TermIndex;  // prefix_sums.h

/// Walks the symbols in order from any position, amortised O(1) a step, no recursion. To start it goes
/// through the bodies on the way down to the position, or asks an `index` of the grammar where to look in each, for
/// less than kStride terms of it. The grammar must outlive it, unchanged.
class Walker {
 public:
  explicit Walker(const Grammar &grammar, uint64_t position = 0, const TermIndex *index = nullptr);
  /// The next symbol, or kNoSymbol at the end.
  Symbol next();
  [[nodiscard]] uint64_t position() const { return position_; }

 private:
  struct Level {
    const Term *term;  ///< the term that the walk is in, or `end`
    const Term *end;
    uint64_t left;  ///< repetitions of `term` that still have to begin
  };
  void enter(uint32_t rule);

  const Grammar *grammar_;
  std::vector<Level> levels_;
  uint64_t position_;
};

}  // namespace cairn::grammar
