// PrefixSums: what the first n symbols of a sequence add up to, for any n, without going through them; and the longest
// beginning of which something holds ("at most 1000 symbols of this kind"). TermIndex: where the terms of long rules
// lie.
//
// "Adding up" is any associative operation. Each rule has its sum, and in rules of many terms every kStride-th term has
// the sum of those before it: so a position is reached by going down through the rules, as in random access to
// straight-line programs (Bille et al., SIAM J. Comput. 44, 2015, section 3, without their balancing: the depth of the
// grammar takes the place of the logarithm). A `Sums` says what is added:
//
//   struct Count {                       // how often symbol 7 stands there
//     using Sum = uint64_t;              // while adding up
//     using Kept = uint64_t;             // of a rule, in the index
//     Sum nothing() const { return 0; }
//     void add(Sum *sum, Symbol symbol, uint64_t times) const { *sum += symbol == 7 ? times : 0; }
//     void add(Sum *sum, const Kept &rule, uint64_t times) const { *sum += rule * times; }
//     Kept keep(const Sum &sum) const { return sum; }
//   };
//
// Adding something `times` times must cost no more than the logarithm of that. Made once, in one visit of each term;
// memory for each rule and each kStride-th term of long ones. The grammar must outlive it, unchanged. Const; any
// thread. A question costs the depth of the grammar times the logarithm of its longest rule, and `longest` also times
// the logarithm of the repetitions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "grammar/grammar.h"

namespace cairn::grammar {

class TermIndex {
 public:
  static constexpr size_t kStride = 32;
  explicit TermIndex(const Grammar &grammar);

  /// A term of a rule, and how many symbols of the rule's expansion stand before it.
  struct Mark {
    size_t term = 0;
    uint64_t position = 0;
  };
  /// Of the terms kept here (each kStride-th), the last that does not begin behind `position` of the rule.
  [[nodiscard]] Mark before(uint32_t rule, uint64_t position) const;
  /// The number of the first mark of a rule, among those of all rules; the one at its first term is none. The last rule
  /// is followed by how many there are.
  [[nodiscard]] const std::vector<size_t> &first_of() const { return first_; }
  /// Symbols of the rule before each mark.
  [[nodiscard]] const std::vector<uint64_t> &positions() const { return positions_; }

 private:
  std::vector<size_t> first_;
  std::vector<uint64_t> positions_;
};

template <class Sums>
class PrefixSums {
 public:
  using Sum = typename Sums::Sum;

  explicit PrefixSums(const Grammar &grammar, Sums sums = {})
      : grammar_(&grammar), sums_(std::move(sums)), index_(grammar) {
    const std::vector<Body> &rules = grammar.rules();
    rules_.resize(rules.size());
    marks_.resize(index_.positions().size());
    for (size_t rule = rules.size(); rule-- > 0;) {  // a rule refers to later ones
      Sum sum = sums_.nothing();
      for (size_t t = 0; t < rules[rule].size(); ++t) {
        if (t != 0 && t % TermIndex::kStride == 0) {
          marks_[index_.first_of()[rule] + t / TermIndex::kStride - 1] = sums_.keep(sum);
        }
        add(&sum, rules[rule][t], rules[rule][t].count);
      }
      rules_[rule] = sums_.keep(sum);
    }
  }

  /// Of the first `position` symbols; of all if there are not so many.
  [[nodiscard]] Sum before(uint64_t position) const {
    Sum sum = sums_.nothing();
    uint64_t rest = std::min(position, grammar_->length());
    for (uint32_t rule = 0; rest != 0;) {
      const Body &body = grammar_->rules()[rule];
      const TermIndex::Mark mark = index_.before(rule, rest);
      if (mark.term != 0) sums_.add(&sum, marks_[index_.first_of()[rule] + mark.term / TermIndex::kStride - 1], 1);
      rest -= mark.position;
      for (size_t t = mark.term; rest != 0; ++t) {
        const Term &term = body[t];
        const uint64_t one = length_of(term);
        const uint64_t times = std::min(rest / one, term.count);
        if (times != 0) add(&sum, term, times);
        rest -= times * one;
        if (times == term.count) continue;
        rule = term.id;  // a symbol has been taken in full
        break;
      }
    }
    return sum;
  }

  /// How many symbols the longest beginning has of whose sum `holds` is true. It must hold for the empty one, and for
  /// none longer than one for which it does not.
  template <class Holds>
  [[nodiscard]] uint64_t longest(const Holds &holds) const {
    uint64_t position = 0;
    Sum sum = sums_.nothing();
    const auto try_to_add = [&](const auto &what, uint64_t times, uint64_t length) {
      Sum more = sum;
      add(&more, what, times);
      if (!holds(std::as_const(more))) return false;
      sum = std::move(more);
      position += length * times;
      return true;
    };
    for (uint32_t rule = 0;;) {
      const Body &body = grammar_->rules()[rule];
      size_t t = last_mark(rule, &sum, &position, holds);
      for (; t < body.size() && try_to_add(body[t], body[t].count, length_of(body[t])); ++t) {
      }
      if (t == body.size()) return position;
      uint64_t left = body[t].count - 1;  // of its repetitions, some of which may still fit
      while (left != 0) {
        const uint64_t half = left - left / 2;
        left = try_to_add(body[t], half, length_of(body[t])) ? left - half : half - 1;
      }
      if (!body[t].is_rule) return position;
      rule = body[t].id;
    }
  }

  [[nodiscard]] const TermIndex &terms() const { return index_; }

 private:
  [[nodiscard]] uint64_t length_of(const Term &term) const { return term.is_rule ? grammar_->lengths()[term.id] : 1; }
  void add(Sum *sum, const Term &term, uint64_t times) const {
    if (term.is_rule) {
      sums_.add(sum, rules_[term.id], times);
    } else {
      sums_.add(sum, Symbol{term.id}, times);
    }
  }
  /// Goes to the last mark of the rule up to which `holds` is true; its term.
  template <class Holds>
  size_t last_mark(uint32_t rule, Sum *sum, uint64_t *position, const Holds &holds) const {
    const size_t first = index_.first_of()[rule];
    size_t least = first;  // that is not known to hold
    size_t most = index_.first_of()[rule + 1];
    const auto at = [&](size_t mark) {
      Sum more = *sum;
      sums_.add(&more, marks_[mark], 1);
      return more;
    };
    while (least < most) {
      const size_t middle = least + (most - least) / 2;
      if (holds(at(middle))) {
        least = middle + 1;
      } else {
        most = middle;
      }
    }
    if (least == first) return 0;
    *sum = at(least - 1);
    *position += index_.positions()[least - 1];
    return (least - first) * TermIndex::kStride;
  }

  const Grammar *grammar_;
  Sums sums_;
  TermIndex index_;
  std::vector<typename Sums::Kept> rules_;
  std::vector<typename Sums::Kept> marks_;
};

}  // namespace cairn::grammar
