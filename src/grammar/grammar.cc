#include "grammar/grammar.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <memory>

#include "base/as_size.h"
#include "grammar/tidy.h"

namespace cairn::grammar {

namespace {

[[maybe_unused]] bool refers_upward(const std::vector<Body> &rules) {
  for (size_t i = 0; i < rules.size(); ++i) {
    for (const Term &term : rules[i]) {
      if (term.count == 0 || (term.is_rule && (term.id <= i || term.id >= rules.size()))) return false;
    }
  }
  return true;
}

}  // namespace

Result<Grammar> Grammar::from_rules(std::vector<Body> rules) {
  const auto order = users_first(rules);
  if (!order) return fail(ErrorKind::unreadable, "the rules of a grammar form a cycle");
  // Lengths first: shrinking multiplies counts, which are in range if the lengths are.
  std::vector<Body> ordered;
  ordered.reserve(order->size());
  std::vector<uint32_t> number_of(rules.size(), 0);
  for (size_t i = 0; i < order->size(); ++i) number_of[(*order)[i]] = static_cast<uint32_t>(i);
  for (const uint32_t number : *order) {
    ordered.push_back(std::move(rules[number]));
    for (Term &term : ordered.back()) {
      if (term.is_rule) term.id = number_of[term.id];
    }
  }
  auto lengths = rule_lengths(ordered);
  if (!lengths) return fail(ErrorKind::unreadable, "a grammar stands for too many symbols");
  tidy(&ordered, &*lengths);
  Grammar grammar;
  grammar.rules_ = std::move(ordered);
  grammar.lengths_ = *std::move(lengths);
  assert(rule_lengths(grammar.rules_) == grammar.lengths_);
  assert(refers_upward(grammar.rules_));
  return grammar;
}

Grammar Grammar::from_symbols(const std::vector<Symbol> &symbols) { return *from_symbols(symbols, SIZE_MAX); }

namespace {

/// A Builder with memory for about so many terms.
class Parse {
 public:
  /// More than a Builder needs for them; what it does not touch costs nothing.
  explicit Parse(size_t terms)
      : size_((terms * 160 + (size_t{1} << 16)) / kPage * kPage), memory_(std::malloc(size_ + kPage), &std::free) {
    if (memory_ == nullptr) return;
    const auto start = (reinterpret_cast<uintptr_t>(memory_.get()) + kPage - 1) / kPage * kPage;
    arena_.emplace(reinterpret_cast<void *>(start), size_, Arena::Fresh::as_it_is);
    builder_.emplace(*arena_);
  }
  /// Nothing without memory.
  Builder *builder() { return builder_ ? &*builder_ : nullptr; }

 private:
  static constexpr size_t kPage = 4096;
  size_t size_;
  std::unique_ptr<void, decltype(&std::free)> memory_;
  std::optional<Arena> arena_;
  std::optional<Builder> builder_;
};

}  // namespace

std::optional<Grammar> Grammar::from_symbols(const std::vector<Symbol> &symbols, size_t most_terms) {
  Parse parse(std::min(symbols.size(), most_terms));
  if (Builder *builder = parse.builder()) {
    const auto fits = [&](Symbol symbol) { return builder->append(symbol) && builder->terms() <= most_terms; };
    const bool all = std::all_of(symbols.begin(), symbols.end(), fits);
    if (builder->terms() > most_terms) return std::nullopt;
    if (all) {
      auto grammar = from(*builder);
      if (grammar) return *std::move(grammar);
    }
  }
  std::vector<Body> rules(1);
  for (const Symbol symbol : symbols) add_term(rules[0], {symbol, false, 1});
  return *from_rules(std::move(rules));
}

std::optional<Grammar> Grammar::parsed_anew(size_t most_terms) const {
  Parse parse(static_cast<size_t>(std::min<uint64_t>(length(), most_terms)));
  Builder *builder = parse.builder();
  if (builder == nullptr) return std::nullopt;
  Walker walker(*this);
  for (Symbol symbol = walker.next(); symbol != kNoSymbol; symbol = walker.next()) {
    if (!builder->append(symbol) || builder->terms() > most_terms) return std::nullopt;
  }
  auto grammar = from(*builder);
  return grammar ? std::optional(*std::move(grammar)) : std::nullopt;
}

std::vector<uint64_t> Grammar::rule_multiplicities() const {
  std::vector<uint64_t> times(rules_.size(), 0);
  if (times.empty()) return times;
  times[0] = 1;
  for (size_t i = 0; i < rules_.size(); ++i) {
    for (const Term &term : rules_[i]) {
      if (term.is_rule) times[term.id] += times[i] * term.count;
    }
  }
  return times;
}

std::vector<uint64_t> Grammar::multiplicities() const {
  const std::vector<uint64_t> times = rule_multiplicities();
  std::vector<uint64_t> counts;
  for (size_t i = 0; i < rules_.size(); ++i) {
    for (const Term &term : rules_[i]) {
      if (term.is_rule) continue;
      if (counts.size() <= term.id) counts.resize(size_t{term.id} + 1, 0);
      counts[term.id] += times[i] * term.count;
    }
  }
  return counts;
}

Grammar Grammar::without_last() const {
  std::vector<Body> rules = rules_;
  Body all;
  for (uint32_t rule = 0;;) {
    const Body &body = rules_[rule];
    all.insert(all.end(), body.begin(), body.end() - 1);
    const Term &last = body.back();
    if (last.count > 1) all.push_back({last.id, last.is_rule, last.count - 1});
    if (!last.is_rule) break;
    rule = last.id;
  }
  rules[0] = std::move(all);
  return *from_rules(std::move(rules));
}

Grammar Grammar::mapped(const std::function<Symbol(Symbol)> &map) const {
  std::vector<Body> rules = rules_;
  for (Body &body : rules) {
    for (Term &term : body) {
      if (!term.is_rule) term.id = map(term.id);
    }
  }
  return *from_rules(std::move(rules));
}

Grammar Grammar::renamed(Grammar grammar, const std::vector<Symbol> &number) {
  for (Body &body : grammar.rules_) {
    for (Term &term : body) {
      assert(term.is_rule || term.id < number.size());
      if (!term.is_rule) term.id = number[term.id];
    }
  }
  return grammar;
}

Grammar Grammar::projected(const std::function<bool(Symbol)> &keep) const {
  // Most of a projection is often nothing: so no more of the rules is copied than what stays.
  std::vector<Body> rules(rules_.size());
  Body kept;
  for (size_t rule = rules_.size(); rule-- > 0;) {
    kept.clear();
    for (const Term &term : rules_[rule]) {
      if (term.is_rule ? !rules[term.id].empty() : keep(term.id)) kept.push_back(term);
    }
    rules[rule] = kept;
  }
  return *from_rules(std::move(rules));
}

Grammar Grammar::concatenated(const Grammar &first, const Grammar &second) {
  std::vector<Body> rules(1);
  const auto add = [&rules](const Grammar &part) {
    const auto shift = static_cast<uint32_t>(rules.size());
    rules[0].push_back({shift, true, 1});
    for (const Body &body : part.rules_) {
      rules.push_back(body);
      for (Term &term : rules.back()) {
        if (term.is_rule) term.id += shift;
      }
    }
  };
  if (!first.empty()) add(first);
  if (!second.empty()) add(second);
  return *from_rules(std::move(rules));
}

std::vector<Symbol> Grammar::expand() const {
  std::vector<Symbol> symbols;
  symbols.reserve(as_size(length()));
  Walker walker(*this);
  for (Symbol symbol = walker.next(); symbol != kNoSymbol; symbol = walker.next()) symbols.push_back(symbol);
  return symbols;
}

}  // namespace cairn::grammar
