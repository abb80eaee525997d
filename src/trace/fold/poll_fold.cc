#include "trace/fold/poll_fold.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "grammar/product.h"
#include "trace/fold/branch_fold.h"
#include "trace/fold/counted_rows.h"
#include "trace/fold/streams.h"
#include "trace/model/poll_word.h"

namespace cairn::trace {
namespace {

using grammar::Body;
using grammar::Grammar;
using grammar::Symbol;
using grammar::Term;

/// The calls of a rule without unsuccessful polls: first `before`, then `first`, then what the rule of the same number
/// in the new grammar says, then `after`. Without a first call there is nothing but `before`.
struct Stretch {
  PollWord before;
  std::optional<Symbol> first;
  PollWord after;
};

/// The sequence without unsuccessful polls, over pairs of a call and the polls that stand before it.
class Pairs {
 public:
  Pairs(const Grammar &calls, const std::vector<Poll> &polls)
      : calls_(calls), polls_(polls), rules_(calls.rules().size()), stretches_(rules_.size()) {}

  /// False if the polls between two calls cannot be described.
  bool run() {
    for (size_t rule = rules_.size(); rule-- > 0;) {
      if (!stretch(static_cast<uint32_t>(rule))) return false;
    }
    return true;
  }
  struct Pair {
    uint32_t word;
    Symbol call;
    auto operator<=>(const Pair &) const = default;
  };
  [[nodiscard]] const std::vector<Pair> &pairs() const { return pairs_; }
  [[nodiscard]] const PollWord &word(const Pair &pair) const { return *words_[pair.word]; }
  /// Rules over the pairs' numbers; rule 0 lacks its first pair, and the polls at the end.
  std::vector<Body> &rules() { return rules_; }
  [[nodiscard]] const Stretch &whole() const { return stretches_[0]; }
  Symbol number(const PollWord &word, Symbol call) {
    if (!word.empty()) return number_of(word, call);
    // Nearly all of them.
    if (call >= bare_.size()) bare_.resize(polls_.size(), grammar::kNoSymbol);
    if (bare_[call] == grammar::kNoSymbol) bare_[call] = number_of(word, call);
    return bare_[call];
  }

 private:
  Symbol number_of(const PollWord &word, Symbol call) {
    const auto [known, fresh] = word_numbers_.try_emplace(word, static_cast<uint32_t>(words_.size()));
    if (fresh) words_.push_back(&known->first);
    const auto [entry, added] = numbers_.try_emplace({known->second, call}, static_cast<Symbol>(pairs_.size()));
    if (added) pairs_.push_back(entry->first);
    return entry->second;
  }
  bool stretch(uint32_t rule) {
    Stretch &result = stretches_[rule];
    Body &inner = rules_[rule];
    PollWord open;  // polls since the last call
    const auto call = [&](Symbol symbol) {
      if (result.first) {
        inner.push_back({number(open, symbol), false, 1});
      } else {
        result.before = open;
        result.first = symbol;
      }
      open = {};
    };
    for (const Term &term : calls_.rules()[rule]) {
      if (!term.is_rule) {
        if (polls_[term.id].kind == Poll::unsuccessful) {
          if (!open.append(term.id, term.count)) return false;
          continue;
        }
        call(term.id);
        if (term.count > 1) inner.push_back({number({}, term.id), false, term.count - 1});
        continue;
      }
      const Stretch &part = stretches_[term.id];
      if (!part.first) {
        if (!open.append(part.before, term.count)) return false;
        continue;
      }
      if (!open.append(part.before, 1)) return false;
      call(*part.first);
      Body again;
      add_rule(term.id, &inner);
      open = part.after;
      if (term.count == 1) continue;
      if (!open.append(part.before, 1)) return false;
      again.push_back({number(open, *part.first), false, 1});
      add_rule(term.id, &again);
      inner.push_back({static_cast<uint32_t>(rules_.size() + blocks_.size()), true, term.count - 1});
      blocks_.push_back(std::move(again));
      open = part.after;
    }
    (result.first ? result.after : result.before) = std::move(open);
    if (rule == 0) {
      for (Body &block : blocks_) rules_.push_back(std::move(block));
    }
    return true;
  }
  void add_rule(uint32_t rule, Body *body) const {
    if (!rules_[rule].empty()) body->push_back({rule, true, 1});
  }

  const Grammar &calls_;
  const std::vector<Poll> &polls_;
  std::vector<Body> rules_;
  std::vector<Body> blocks_;
  std::vector<Stretch> stretches_;
  std::map<PollWord, uint32_t> word_numbers_;
  std::vector<const PollWord *> words_;
  std::map<Pair, Symbol> numbers_;
  std::vector<Symbol> bare_;  ///< of pairs without polls, by call
  std::vector<Pair> pairs_;
};

void add_word(const PollWord &word, CountedRows *rows, Body *body) {
  for (const PollWord::Term &term : word.terms()) {
    const auto cycle = static_cast<uint32_t>(term.rows.size());
    for (const uint32_t row : term.rows) body->push_back({rows->counted(row, cycle, term.count), false, 1});
  }
}

/// The calls that a pair stands for.
Body calls_of(const PollWord &word, Symbol call, const Poll &poll, CountedRows *rows) {
  Body body;
  add_word(word, rows, &body);
  if (poll.kind == Poll::successful) {
    const std::optional<uint32_t> missed = rows->base(poll.unsuccessful_form);
    const bool counted = missed && !word.empty() && word.terms().back().rows == std::vector<uint32_t>{*missed};
    if (missed && !counted) body.push_back({rows->counted(*missed, 1, 0), false, 1});
  }
  body.push_back({call, false, 1});
  return body;
}

/// Numbers the rows in order of first occurrence and leaves out those that no longer occur.
void take(Grammar calls, const CountedRows &rows, ClassPart *part) {
  std::vector<Symbol> old;
  part->calls = std::make_shared<const Grammar>(renumbered(std::move(calls), &old));
  std::vector<std::vector<uint32_t>> place(rows.rows().size());
  std::vector<RowPointer> kept;
  for (const Symbol symbol : old) {
    place[symbol] = {static_cast<uint32_t>(kept.size())};
    kept.push_back(rows.rows()[symbol]);
  }
  for (const auto &[row, counted] : rows.became()) {
    for (const uint32_t each : counted) place[row].insert(place[row].end(), place[each].begin(), place[each].end());
    std::sort(place[row].begin(), place[row].end());
  }
  place.resize(part->rows.size());
  const SlotRows rows_of_old = SlotRows::of(place);
  for (StatsBlock &block : part->stats) block.remap(rows_of_old, kept.size());
  part->rows = std::move(kept);
}

}  // namespace

bool fold_polls(const std::vector<Bytes> &packed, const std::vector<Poll> &polls, ClassPart *part) {
  if (std::all_of(polls.begin(), polls.end(), [](const Poll &poll) { return poll.kind == Poll::none; })) return false;
  Pairs pairs(*part->calls, polls);
  if (!pairs.run()) return false;

  const Stretch &whole = pairs.whole();
  CountedRows rows(packed, part->rows);
  Body start;
  if (!whole.first) {
    add_word(whole.before, &rows, &start);
  } else {
    const Symbol first = pairs.number(whole.before, *whole.first);
    start = std::move(pairs.rules()[0]);
    start.insert(start.begin(), {first, false, 1});
  }
  // Each pair is a rule.
  std::vector<Body> rules = std::move(pairs.rules());
  const auto first_pair = static_cast<uint32_t>(rules.size());
  rules[0] = std::move(start);
  for (Body &body : rules) {
    if (!whole.first) break;
    for (Term &term : body) {
      if (!term.is_rule) term = {first_pair + term.id, true, term.count};
    }
  }
  for (const Pairs::Pair &pair : pairs.pairs()) {
    rules.push_back(calls_of(pairs.word(pair), pair.call, polls[pair.call], &rows));
  }
  if (whole.first) add_word(whole.after, &rows, &rules[0]);
  Result<Grammar> calls = Grammar::from_rules(std::move(rules));
  if (!calls) return false;
  take(fold_branches(*std::move(calls), polls, &rows), rows, part);

  std::vector<MovedFields> counts;
  const RowGroups groups(part->rows);
  for (uint32_t group = 0; group < groups.count(); ++group) {
    const ClassRow &row = *part->rows[groups.first_row[group]];
    if (!is_call(row.kind) && !std::holds_alternative<Draining>(row.kind))
      counts.push_back({group, {static_cast<uint32_t>(row.heads.size() - 1)}});
  }
  move_out(counts, part, Parse::later);
  for (StatsBlock &block : part->stats) block.join_slots(part->rows.size());
  return true;
}

}  // namespace cairn::trace
