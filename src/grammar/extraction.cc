// A Builder's rings, read link by link into a Grammar. The arena may be one that a killed process left: nothing is
// followed before it was found inside the arena, and no more nodes are visited than fit into it. A change that was
// cut off is seen as if it had not begun: through the words that it saved.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <unordered_map>

#include "base/as_size.h"
#include "grammar/grammar.h"
#include "grammar/tidy.h"

namespace cairn::grammar {

using detail::Kind;
using detail::kNull;
using detail::kUnit;
using detail::Node;
using detail::Ref;
using detail::SettledBlock;

namespace {

tl::unexpected<Error> damaged(const char *what) {
  return fail(ErrorKind::unreadable, std::string("the recorded grammar is damaged: ") + what);
}

}  // namespace

class Extraction {
 public:
  Extraction(const Builder &builder, uintptr_t base, size_t readable)
      : builder_(builder), base_(base), readable_(readable), units_(readable / kUnit), steps_left_(units_) {}
  explicit Extraction(const Builder &builder) : Extraction(builder, builder.base_, as_size(builder.limit_)) {}

  Result<Grammar> run() {
    if (builder_.base_ != base_) return damaged("it is not where it was");
    if (builder_.saved_count_ > Builder::kMostSaved) return damaged("it saved more words than it can");
    matched_ = word(&builder_.matched_);
    if (builder_.top_ != kNull) {
      if (!inside(builder_.top_, 2)) return damaged("a link leads out of the arena");
      number_of(builder_.top_);
      // Reading a body may find rules not seen so far, which come at the end of the list.
      for (size_t i = 0; i < found_.size(); ++i) {
        rules_.emplace_back();
        if (i == 0 && !read_settled()) return damaged(reason_);
        if (!read_body(i)) return damaged(reason_);
      }
    }
    if (matched_ != 0 && !add_matched()) return damaged(reason_);
    auto result = Grammar::from_rules(std::move(rules_));
    if (!result) return damaged("its rules form a cycle or are too long");
    if (result->length() != word(&builder_.committed_) + matched_)
      return damaged("its length is not what was recorded");
    return result;
  }

 private:
  [[nodiscard]] bool inside(Ref ref, uint64_t units) const { return ref != kNull && ref - 1 + units <= units_; }

  /// A word as it was before the change in progress, if there is one.
  uint64_t word(const void *where) const {
    uint64_t value = 0;
    std::memcpy(&value, where, sizeof value);
    for (uint32_t i = builder_.saved_count_; i-- > 0;) {  // saved twice: the older one holds
      if (builder_.saved_[i].where == reinterpret_cast<uintptr_t>(where)) value = builder_.saved_[i].old;
    }
    return value;
  }

  Node node(Ref ref) const {
    Node copy = *builder_.node(ref);
    if (builder_.saved_count_ == 0) return copy;
    uint64_t words[sizeof(Node) / sizeof(uint64_t)];
    for (size_t i = 0; i < std::size(words); ++i) {
      words[i] = word(reinterpret_cast<const uint8_t *>(builder_.node(ref)) + i * sizeof(uint64_t));
    }
    std::memcpy(&copy, words, sizeof copy);
    return copy;
  }

  uint32_t number_of(Ref rule) {
    const auto [entry, is_new] = numbers_.try_emplace(rule, static_cast<uint32_t>(found_.size()));
    if (is_new) found_.push_back(rule);
    return entry->second;
  }

  bool stop(const char *reason) {
    reason_ = reason;
    return false;
  }

  /// A link to a rule, as a term.
  bool refer(Ref to, uint64_t count, Body &body) {
    if (!inside(to, 2)) return stop("a link leads out of the arena");
    const Node used = node(to);
    if (used.kind != Kind::guard || used.id != to) return stop("a term refers to no rule");
    body.push_back({number_of(to), true, count});
    return true;
  }

  /// The packed front, into the start rule.
  bool read_settled() {
    uint64_t expected = 0;
    for (const SettledBlock *block = builder_.settled_.first(); block != nullptr; block = block->next) {
      const uint64_t offset = reinterpret_cast<uintptr_t>(block) - base_;
      if (offset % alignof(SettledBlock) != 0 || offset > readable_ || readable_ - offset < sizeof(SettledBlock)) {
        return stop("a link leads out of the arena");
      }
      const uint64_t blocks = sizeof(SettledBlock) / kUnit;
      if (steps_left_ < blocks) return stop("its links never end");
      steps_left_ -= blocks;
      const uint64_t saved_word = word(&block->used);
      uint32_t used = 0;
      std::memcpy(&used, &saved_word, sizeof used);
      if (used > sizeof(block->bytes)) return stop("a block is overfull");
      ByteReader in({block->bytes, used});
      while (!in.at_end()) {
        const uint64_t code = in.varint();
        const uint64_t count = (code & 2) != 0 ? in.varint() + 2 : 1;
        if (in.failed() || count == 0) return stop("a packed term is none");
        if ((code & 1) != 0) {
          if (code >> 2 > UINT32_MAX) return stop("a link leads out of the arena");
          if (!refer(static_cast<Ref>(code >> 2), count, rules_[0])) return false;
        } else {
          const uint64_t symbol = expected + static_cast<uint64_t>(unzigzag(code >> 2));
          if (symbol >= kNoSymbol) return stop("a packed term is none");
          expected = symbol + 1;
          rules_[0].push_back({static_cast<uint32_t>(symbol), false, count});
        }
      }
    }
    return true;
  }

  bool read_body(size_t number) {
    const Ref guard = found_[number];
    Ref before = guard;
    for (Ref at = node(guard).next; at != guard;) {
      if (!inside(at, 1)) return stop("a link leads out of the arena");
      if (steps_left_-- == 0) return stop("its links never end");
      const Node term = this->node(at);
      if (term.prev != before) return stop("two neighbours disagree");
      if (term.count == 0) return stop("a count is 0");
      if (term.kind == Kind::rule) {
        if (!refer(term.id, term.count, rules_[number])) return false;
      } else if (term.kind == Kind::symbol && term.id != kNoSymbol) {
        rules_[number].push_back({term.id, false, term.count});
      } else {
        return stop("a term is none");
      }
      before = at;
      at = term.next;
    }
    return true;
  }

  /// What the cursor has matched since the rules last changed: whole rounds, then the front of one more.
  bool add_matched() {
    if (builder_.top_ == kNull || builder_.follows_ == Builder::Follows::nothing)
      return stop("its cursor follows nothing");
    Body &top = rules_[0];
    if (builder_.followed_ == kNull) {
      if (top.empty() || top.back().is_rule) return stop("its cursor follows nothing");
      top.push_back({top.back().id, false, matched_});
      return true;
    }
    const auto known = numbers_.find(builder_.followed_);
    if (known == numbers_.end()) return stop("its cursor follows a rule that is not there");
    const auto order = users_first(rules_);
    if (!order) return stop("its rules form a cycle");
    std::vector<uint64_t> lengths(rules_.size(), 0);
    for (size_t i = order->size(); i-- > 0;) {
      for (const Term &term : rules_[(*order)[i]]) {
        // Wraps only where from_rules will find the sequence too long.
        lengths[(*order)[i]] += term.count * (term.is_rule ? lengths[term.id] : 1);
      }
    }
    uint32_t rule = known->second;
    if (lengths[rule] == 0) return stop("its cursor follows an empty rule");
    uint64_t rest = matched_ % lengths[rule];
    if (rest != matched_) top.push_back({rule, true, matched_ / lengths[rule]});
    while (rest != 0) {
      uint32_t next = rule;
      for (const Term &term : rules_[rule]) {
        const uint64_t one = term.is_rule ? lengths[term.id] : 1;
        if (one == 0) return stop("a rule is too long");
        const uint64_t count = std::min(term.count, rest / one);
        if (count != 0) top.push_back({term.id, term.is_rule, count});
        rest -= count * one;
        if (count == term.count) continue;
        next = term.id;
        break;
      }
      if (rest != 0 && next == rule) return stop("a rule is too long");
      rule = next;
    }
    return true;
  }

  const Builder &builder_;
  uintptr_t base_;
  uint64_t readable_;
  uint64_t units_;
  uint64_t steps_left_;
  uint64_t matched_ = 0;
  const char *reason_ = "";
  std::unordered_map<Ref, uint32_t> numbers_;
  std::vector<Ref> found_;
  std::vector<Body> rules_;
};

Result<Grammar> Grammar::from(const Builder &builder) { return Extraction(builder).run(); }

Result<Grammar> Grammar::from(const Builder &builder, uintptr_t base, size_t readable) {
  return Extraction(builder, base, readable).run();
}

}  // namespace cairn::grammar
