#include "grammar/grammar.h"
#include "grammar/prefix_sums.h"

namespace cairn::grammar {

Walker::Walker(const Grammar &grammar, uint64_t position, const TermIndex *index)
    : grammar_(&grammar), position_(position < grammar.length() ? position : grammar.length()) {
  if (position_ == grammar.length()) return;
  uint64_t rest = position_;
  for (uint32_t rule = 0;;) {
    enter(rule);
    Level &level = levels_.back();
    if (index != nullptr) {
      const TermIndex::Mark mark = index->before(rule, rest);
      level.term += mark.term;
      rest -= mark.position;
    }
    uint64_t one = 0;
    for (;; ++level.term) {
      one = level.term->is_rule ? grammar.lengths()[level.term->id] : 1;
      if (rest < one * level.term->count) break;
      rest -= one * level.term->count;
    }
    level.left = level.term->count - rest / one;
    rest %= one;
    if (!level.term->is_rule) return;
    if (rest == 0) return;  // next() enters the rule
    --level.left;
    rule = level.term->id;
  }
}

void Walker::enter(uint32_t rule) {
  const Body &body = grammar_->rules()[rule];
  levels_.push_back({body.data(), body.data() + body.size(), body.empty() ? 0 : body[0].count});
}

Symbol Walker::next() {
  while (!levels_.empty()) {
    Level &level = levels_.back();
    if (level.left == 0) {
      if (level.term == level.end || ++level.term == level.end) {
        levels_.pop_back();
        continue;
      }
      level.left = level.term->count;
    }
    --level.left;
    if (!level.term->is_rule) {
      ++position_;
      return level.term->id;
    }
    enter(level.term->id);
  }
  return kNoSymbol;
}

}  // namespace cairn::grammar
