// Runs of calls that may be drains (drain_fold.h), as words, and the sequence of calls over these.
//
// Rule by rule; a word, at most 8,192 items, is what is written out. Plain values, one use each, by one thread.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "grammar/grammar.h"
#include "trace/model/record.h"

namespace cairn::trace {

/// What a row is to drains.
struct Drainer {
  bool hit = false;        ///< it completes something; else it is a poll that found nothing
  bool continues = false;  ///< finds the array as the call before left it
  uint32_t chain = 0;      ///< rows of one drain have the same
};

/// What each row of a class is to drains; nothing for rows that are not of any.
class Drainers {
 public:
  Drainers(const std::vector<Bytes> &packed, const std::vector<Poll> &polls);

  /// There are drains.
  [[nodiscard]] bool any() const { return any_hit_; }
  [[nodiscard]] const std::optional<Drainer> &operator[](grammar::Symbol row) const { return of_[row]; }
  [[nodiscard]] const Row &row(grammar::Symbol row) const { return rows_[row]; }

 private:
  std::vector<std::optional<Drainer>> of_;
  std::vector<Row> rows_;
  bool any_hit_ = false;
};

/// Calls of one drain, in order.
struct DrainItem {
  grammar::Symbol row;
  uint64_t count;
  auto operator<=>(const DrainItem &) const = default;
};
using DrainWord = std::vector<DrainItem>;

/// The sequence over rows that do not drain, and words.
class DrainWords {
 public:
  /// Words are numbered from `rows` on. `calls` and `drainers` must outlive this.
  DrainWords(const grammar::Grammar &calls, const Drainers &drainers, size_t rows);

  /// False if a drain is too long.
  bool run();
  std::vector<grammar::Body> &rules() { return rules_; }
  [[nodiscard]] const std::vector<const DrainWord *> &words() const { return words_; }

 private:
  /// The calls of a rule: `first`, then what the rule of the same number in the new grammar says, then `last`; or
  /// `first` alone, which may go on.
  struct Stretch {
    DrainWord first;
    DrainWord last;
    bool alone = true;
  };

  /// While a rule's terms are read.
  struct Reading {
    Stretch *result;
    grammar::Body *body;
    DrainWord open;
  };
  [[nodiscard]] bool goes_on(const DrainWord &word, grammar::Symbol row) const;
  void append(grammar::Symbol row, uint64_t count, DrainWord *word);
  /// The word that stands here, if any.
  void add(const DrainWord &word, grammar::Body *body);
  /// What is open goes on no further.
  void close(Reading *at);
  void call(grammar::Symbol row, uint64_t count, Reading *at);
  void word(const DrainWord &word, Reading *at);
  void rule_ref(uint32_t rule, Reading *at);
  /// A rule that is nothing but calls of one drain, each of which goes on with what was before it.
  [[nodiscard]] bool circles(const Stretch &part) const;
  void repeated(const grammar::Term &term, Reading *at);
  void stretch(uint32_t rule);

  const grammar::Grammar &calls_;
  const Drainers &drainers_;
  grammar::Symbol first_word_;
  std::vector<grammar::Body> rules_;
  std::vector<grammar::Body> blocks_;
  std::vector<Stretch> stretches_;
  std::map<DrainWord, grammar::Symbol> numbers_;
  std::vector<const DrainWord *> words_;
  bool good_ = true;
};

}  // namespace cairn::trace
