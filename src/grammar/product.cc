#include "grammar/product.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace cairn::grammar {
namespace {

/// A place between two terms of a grammar, and what comes next: `left` repetitions of a term.
class Cursor {
 public:
  /// Before `repetitions` of a rule, or of a symbol.
  Cursor(const Grammar &grammar, Term what) : grammar_(grammar), start_(1, what) {
    levels_.push_back({&start_, 0, what.count});
  }

  [[nodiscard]] bool at_end() const { return levels_.empty(); }
  [[nodiscard]] const Term &term() const { return (*levels_.back().body)[levels_.back().index]; }
  [[nodiscard]] uint64_t left() const { return levels_.back().left; }
  [[nodiscard]] uint64_t unit_length() const { return term().is_rule ? grammar_.lengths()[term().id] : 1; }

  void skip(uint64_t repetitions) {
    levels_.back().left -= repetitions;
    close();
  }
  /// Into the first of the repetitions of the rule that comes next.
  void enter() {
    const Body &body = grammar_.rules()[term().id];
    --levels_.back().left;
    levels_.push_back({&body, 0, body[0].count});
  }

 private:
  struct Level {
    const Body *body;
    size_t index;
    uint64_t left;
  };
  void close() {
    while (!levels_.empty() && levels_.back().left == 0) {
      Level &level = levels_.back();
      if (++level.index < level.body->size()) {
        level.left = (*level.body)[level.index].count;
        return;
      }
      levels_.pop_back();
    }
  }

  const Grammar &grammar_;
  Body start_;
  std::vector<Level> levels_;
};

/// A stretch of both sequences of the same length: so many repetitions of a term of each.
struct Stretch {
  Term left;
  Term right;
  auto operator<=>(const Stretch &) const = default;
};

class Pairing {
 public:
  Pairing(const Grammar &left, const Grammar &right, size_t most_steps)
      : left_(left), right_(right), steps_left_(most_steps) {}

  std::optional<Product> run() {
    number_of({{0, true, 1}, {0, true, 1}});
    for (size_t next = 0; next < stretches_.size(); ++next) {
      if (!pair_up(stretches_[next], next)) return std::nullopt;
    }
    auto grammar = Grammar::from_rules(std::move(rules_));
    if (!grammar) return std::nullopt;
    Product result;
    std::vector<Symbol> old;
    result.pairs = renumbered(*std::move(grammar), &old);
    for (const Symbol symbol : old) result.of.push_back(pairs_[symbol]);
    return result;
  }

 private:
  uint32_t number_of(const Stretch &stretch) {
    const auto [entry, added] = numbers_.emplace(stretch, static_cast<uint32_t>(stretches_.size()));
    if (added) {
      stretches_.push_back(stretch);
      rules_.emplace_back();
    }
    return entry->second;
  }

  Symbol symbol_of(Symbol left, Symbol right) {
    const auto [entry, added] = symbols_.emplace(uint64_t{left} << 32 | right, static_cast<Symbol>(pairs_.size()));
    if (added) pairs_.emplace_back(left, right);
    return entry->second;
  }

  bool step() { return steps_left_-- != 0; }

  /// Enters the longer of both units, or both if they are equally long.
  static void enter_longer(Cursor *left, Cursor *right) {
    const uint64_t l = left->unit_length();
    const uint64_t r = right->unit_length();
    if (l >= r && left->term().is_rule) left->enter();
    if (r >= l && right->term().is_rule) right->enter();
  }

  bool pair_up(const Stretch stretch, size_t number) {
    Cursor left(left_, stretch.left);
    Cursor right(right_, stretch.right);
    enter_longer(&left, &right);
    while (!left.at_end() && !right.at_end()) {
      if (!step()) return false;
      const uint64_t l = left.unit_length();
      const uint64_t r = right.unit_length();
      const uint64_t factor = std::gcd(l, r);
      const uint64_t left_copies = r / factor;  // of a stretch as long as both units' smallest common multiple
      const uint64_t right_copies = l / factor;
      if (left_copies == 0 || right_copies == 0) return false;  // no unit is empty
      const uint64_t times = std::min(left.left() / left_copies, right.left() / right_copies);
      if (times == 0) {
        enter_longer(&left, &right);
        continue;
      }
      Term term = {0, true, times};
      if (!left.term().is_rule && !right.term().is_rule) {
        term = {symbol_of(left.term().id, right.term().id), false, times};
      } else {
        term.id = number_of({{left.term().id, left.term().is_rule, left_copies},
                             {right.term().id, right.term().is_rule, right_copies}});
      }
      rules_[number].push_back(term);
      left.skip(times * left_copies);
      right.skip(times * right_copies);
    }
    return left.at_end() && right.at_end();
  }

  const Grammar &left_;
  const Grammar &right_;
  size_t steps_left_;
  std::map<Stretch, uint32_t> numbers_;
  std::vector<Stretch> stretches_;
  std::vector<Body> rules_;
  std::unordered_map<uint64_t, Symbol> symbols_;
  std::vector<std::pair<Symbol, Symbol>> pairs_;
};

}  // namespace

std::optional<Product> product(const Grammar &left, const Grammar &right, size_t most_steps) {
  if (left.length() != right.length()) return std::nullopt;
  if (left.empty()) return Product{};
  std::optional<Product> found = Pairing(left, right, most_steps).run();
  assert(!found || found->pairs.length() == left.length());
  return found;
}

std::optional<std::vector<Symbol>> coarsening(const Grammar &fine, const Grammar &coarse, uint64_t most_symbols) {
  if (fine.length() != coarse.length() || fine.length() > most_symbols) return std::nullopt;
  std::vector<Symbol> of;
  Walker fines(fine);
  Walker coarses(coarse);
  for (Symbol symbol = fines.next(); symbol != kNoSymbol; symbol = fines.next()) {
    if (symbol >= of.size()) of.resize(size_t{symbol} + 1, kNoSymbol);
    const Symbol now = coarses.next();
    if (of[symbol] == kNoSymbol) of[symbol] = now;
    if (of[symbol] != now) return std::nullopt;
  }
  // A symbol that stands nowhere stands for nothing; files may have such.
  if (std::find(of.begin(), of.end(), kNoSymbol) != of.end()) return std::nullopt;
  return of;
}

std::vector<Symbol> first_occurrences(const Grammar &grammar) {
  std::vector<Symbol> symbols;
  std::vector<bool> seen_symbol;
  std::vector<bool> seen_rule(grammar.rules().size());
  struct Level {
    const Body *body;
    size_t next;
  };
  std::vector<Level> levels;
  levels.push_back({grammar.rules().data(), 0});
  while (!levels.empty()) {
    Level &level = levels.back();
    if (level.next == level.body->size()) {
      levels.pop_back();
      continue;
    }
    const Term &term = (*level.body)[level.next++];
    if (term.is_rule) {
      if (seen_rule[term.id]) continue;
      seen_rule[term.id] = true;
      levels.push_back({&grammar.rules()[term.id], 0});
      continue;
    }
    if (term.id >= seen_symbol.size()) seen_symbol.resize(size_t{term.id} + 1);
    if (seen_symbol[term.id]) continue;
    seen_symbol[term.id] = true;
    symbols.push_back(term.id);
  }
  return symbols;
}

Grammar renumbered(Grammar grammar, std::vector<Symbol> *old_symbol) {
  *old_symbol = first_occurrences(grammar);
  std::vector<Symbol> number;
  for (size_t i = 0; i < old_symbol->size(); ++i) {
    const Symbol old = (*old_symbol)[i];
    if (old >= number.size()) number.resize(size_t{old} + 1);
    number[old] = static_cast<Symbol>(i);
  }
  return Grammar::renamed(std::move(grammar), number);
}

Grammar reparsed(Grammar grammar, uint64_t most_symbols) {
  if (grammar.length() > most_symbols) return grammar;
  // The new one is of use only if it has fewer terms; what it has on the way may be a little more.
  const size_t terms = term_count(grammar);
  std::optional<Grammar> anew = grammar.parsed_anew(terms + terms / 8 + 64);
  return anew && term_count(*anew) < terms ? *std::move(anew) : std::move(grammar);
}

size_t term_count(const Grammar &grammar) {
  size_t terms = 0;
  for (const Body &rule : grammar.rules()) terms += rule.size();
  return terms;
}

}  // namespace cairn::grammar
