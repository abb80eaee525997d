// Cursors: a Builder that repeats itself only compares.
//
//  - After each slow append one is armed on the tail of the top rule, Rⁿ: it expects R again. Whole rounds only
//    count up; the exponent, and with it the digram table, changes when the loop is left.
//  - Where the tail does not fit, one is armed on a long rule that starts with the symbol; if all of it follows, that
//    is one append. Without this, noise would make cursors slower than none.
//  - On a mismatch what was matched is committed as terms, not as symbols: rules are cut at the place by
//    their stored lengths, and the front part becomes a rule of its own, which is what Sequitur would have found.
//
// A cursor reads ahead into a window: a few symbols at first, so that a short-lived cursor costs little, and up
// to kWindow; bodies that fit stay there while they repeat.
#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>

#include "base/as_size.h"
#include "grammar/builder.h"

namespace cairn::grammar {

using detail::Kind;
using detail::kNull;

namespace {

// What an attempt on a rule costs, in symbols that could have been appended instead.
constexpr int64_t kWholeCost = 1;
constexpr int64_t kPartialCost = 4;
constexpr int64_t kMostCredit = 256;
constexpr uint32_t kTryEvery = 32;  // without credit

}  // namespace

void Builder::follow(Ref of, Symbol first, uint64_t length, Follows what) {
  follows_ = what;
  followed_ = of;
  followed_length_ = length;
  window_[0] = first;
  predicted_ = first;
  at_ = 0;
  filled_ = 1;
  ahead_ = 1;
  depth_ = 0;
  slid_ = false;
  looping_ = length == 1 && what == Follows::tail;
}

void Builder::arm_tail() {
  if (full_) {
    stop();
    return;
  }
  if (!cursors_) return;
  const Node &tail = *node(rule(top_)->guard.prev);
  if (tail.kind == Kind::rule) {
    note_start(tail.id);
    follow(tail.id, rule(tail.id)->first, rule(tail.id)->length, Follows::tail);
  } else {
    follow(kNull, tail.id, 1, Follows::tail);
  }
}

/// Follows a rule that starts with `symbol`, which is then its first match.
bool Builder::arm_start(Symbol symbol) {
  const Ref *place = starts_.place(symbol);
  if (!cursors_ || place == nullptr || *place == kNull) return false;
  // Input without repetition is not to pay for attempts that come to nothing.
  if (start_credit_ < 0 && ++starts_skipped_ % kTryEvery != 0) return false;
  const Rule &found = *rule(*place);
  if (found.guard.kind != Kind::guard || found.first != symbol) return false;
  follow(*place, symbol, found.length, Follows::start);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  matched_ = 1;
  at_ = 1;
  look_ahead();
  return true;
}

void Builder::note_start(Ref of) {
  if (!cursors_) return;
  starts_.fit(*arena_, rule_count_, [this](Ref known) { return rule(known)->first; });
  Ref *place = starts_.place(rule(of)->first);
  if (place == nullptr || *place == of) return;
  const Rule &known = *rule(*place);
  if (*place != kNull && known.guard.kind == Kind::guard && known.first == rule(of)->first &&
      known.length > rule(of)->length) {
    return;
  }
  *place = of;
}

/// The window is used up and does not just start again.
bool Builder::turn() {
  if (predicted_ == kNoSymbol) {  // that is what was "matched"
    --matched_;
    at_ = 0;
    return false;
  }
  if (ahead_ == followed_length_) {
    if (follows_ == Follows::start) {
      if (!commit()) {
        stop();  // the symbol is in, and the last one
      } else {
        arm_tail();
      }
      return true;
    }
    ahead_ = 0;
    depth_ = 0;
    at_ = filled_ = 0;
  }
  look_ahead();
  return true;
}

/// Puts more of the followed rule into the window. Without memory for that nothing is predicted, and the next
/// symbol is taken as a mismatch.
void Builder::look_ahead() {
  if (ahead_ <= 1 && depth_ == 0) {  // nothing of this round was walked yet: `follow` knew the first symbol
    filled_ = 0;
    ahead_ = 0;
    if (!descend(followed_)) {
      expect_nothing();
      return;
    }
  }
  if (filled_ == capacity_) {
    grow_window();
    if (filled_ == capacity_) {
      slid_ = true;
      at_ = filled_ = 0;
    }
  }
  constexpr uint32_t kAtFirst = 4;  // most cursors on what hardly repeats end sooner
  uint64_t wanted = filled_ < kAtFirst ? kAtFirst : filled_;
  if (wanted > capacity_ - filled_) wanted = capacity_ - filled_;
  if (wanted > followed_length_ - ahead_) wanted = followed_length_ - ahead_;
  const uint32_t walked = walk(window_ + filled_, static_cast<uint32_t>(wanted));
  filled_ += walked;
  ahead_ += walked;
  looping_ = follows_ == Follows::tail && !slid_ && ahead_ == followed_length_;
  if (at_ < filled_) {
    predicted_ = window_[at_];
  } else {
    expect_nothing();
  }
}

void Builder::grow_window() {
  if (capacity_ == kWindow) return;
  const uint32_t larger = capacity_ * 4;
  auto *window = arena_->allocate_array<Symbol>(larger);
  if (window == nullptr) return;
  for (uint32_t i = 0; i < filled_; ++i) window[i] = window_[i];
  if (window_ != small_window_) arena_->release_array(window_, capacity_);
  window_ = window;
  capacity_ = larger;
}

bool Builder::descend(Ref of) {
  if (depth_ == levels_capacity_) {
    const uint32_t larger = levels_capacity_ == 0 ? 8 : levels_capacity_ * 2;
    auto *levels = arena_->allocate_array<Level>(larger);
    if (levels == nullptr) return false;
    for (uint32_t i = 0; i < depth_; ++i) levels[i] = levels_[i];
    arena_->release_array(levels_, levels_capacity_);
    levels_ = levels;
    levels_capacity_ = larger;
  }
  const Ref first = rule(of)->guard.next;
  levels_[depth_++] = {first, node(first)->count};
  return true;
}

/// The next `count` symbols of the followed rule, or fewer without memory for a level.
uint32_t Builder::walk(Symbol *out, uint32_t count) {
  uint32_t done = 0;
  while (depth_ != 0) {
    Level &level = levels_[depth_ - 1];
    const Node *term = node(level.at);
    uint64_t left = level.left;
    for (;;) {
      if (left == 0) {
        level.at = term->next;
        term = node(term->next);
        left = term->count;
      }
      if (term->kind != Kind::symbol) break;
      for (; left != 0; --left) {
        if (done == count) {
          level.left = left;
          return done;
        }
        out[done++] = term->id;
      }
    }
    level.left = left;
    if (term->kind == Kind::guard) {
      --depth_;
      continue;
    }
    if (done == count) return done;
    // If this rule was just gone through, its symbols are the last ones and need not be looked up again.
    const uint64_t length = rule(term->id)->length;
    if (left != term->count && length <= done) {
      for (; left != 0 && length <= count - done; --left, done += static_cast<uint32_t>(length)) {
        std::memcpy(out + done, out + done - length, as_size(length) * sizeof(Symbol));
      }
      level.left = left;
      if (left == 0) continue;
    }
    --level.left;
    if (!descend(term->id)) {
      ++level.left;
      return done;
    }
  }
  return done;
}

/// Makes what was matched part of the rules. False without memory for all of it, and nothing has changed then.
bool Builder::commit() {
  const uint64_t rounds = matched_ / followed_length_;
  const uint64_t rest = matched_ % followed_length_;
  assert(follows_ != Follows::nothing && saved_count_ == 0);
  assert(follows_ == Follows::tail || matched_ <= followed_length_);
  if (rest != 0 && !reserve_partial(followed_, rest)) return false;
  if (rest == 0 && !reserve_nodes(1)) return false;
  if (follows_ == Follows::start) {
    const int64_t gained =
        matched_ < kMostCredit ? static_cast<int64_t>(matched_) - (rest == 0 ? kWholeCost : kPartialCost) : kMostCredit;
    start_credit_ = std::clamp<int64_t>(start_credit_ + gained, -kMostCredit, kMostCredit);
  }
  Chain terms;
  if (rest != 0) {
    terms = take_partial(followed_, rest);
  } else if (follows_ == Follows::start) {  // all of the rule, once
    terms.first = terms.last = ref(new_node());
    become(terms.first, followed_);
    seal();
  }
  if (terms.first != kNull) append_chain(terms);
  if (rounds != 0 && follows_ == Follows::tail) {
    Node *tail = node(terms.first == kNull ? rule(top_)->guard.prev : node(terms.first)->prev);
    unhash(tail->prev);
    save(&tail->count);
    tail->count += rounds;
    touch(tail->prev);
  }
  save(&committed_);
  save(&matched_);
  committed_ += matched_;
  matched_ = 0;
  seal();
  follows_ = Follows::nothing;
  settle();
  pack_front();
  return true;
}

/// Room for what take_partial() makes, counted by the same descent.
bool Builder::reserve_partial(Ref of, uint64_t rest) {
  uint32_t levels = 0;
  while (rest != 0) {
    ++levels;
    Ref at = rule(of)->guard.next;
    for (; unit_length(*node(at)) * node(at)->count <= rest; at = node(at)->next) {
      rest -= unit_length(*node(at)) * node(at)->count;
      if (rest == 0) break;
    }
    rest %= unit_length(*node(at));
    of = node(at)->id;
  }
  return reserve_nodes(levels * 3) && reserve_rules(levels);
}

/// The first `rest` symbols of a rule, fewer than all, as terms. Nothing may be settled before they are in a ring.
Builder::Chain Builder::take_partial(Ref of, uint64_t rest) {
  Chain made;
  const auto emit = [&](Ref term) {
    node(term)->prev = made.last;
    (made.first == kNull ? made.first : node(made.last)->next) = term;
    made.last = term;
  };
  while (rest != 0) {
    const Ref first = rule(of)->guard.next;
    Ref last = kNull;  // of the terms that were matched whole
    Ref at = first;
    uint64_t length = 0;
    for (;;) {
      const uint64_t all = unit_length(*node(at)) * node(at)->count;
      if (rest == 0 || all > rest) break;
      rest -= all;
      length += all;
      last = at;
      at = node(at)->next;
    }
    if (last == first) {
      emit(detached(*node(first), node(first)->count));
    } else if (last != kNull) {
      emit(split(of, last, length));
    }
    if (rest == 0) break;
    const Node &partial = *node(at);
    const uint64_t one = unit_length(partial);
    if (rest >= one) emit(detached(partial, rest / one));
    rest %= one;
    of = partial.id;
  }
  return made;
}

/// Moves the front of a rule, up to `last`, to a rule of its own; gives a further use of that.
Builder::Ref Builder::split(Ref of, Ref last, uint64_t length) {
  const Ref front = new_rule();
  const Ref first = rule(of)->guard.next;
  const Ref after = node(last)->next;
  rule(front)->length = length;
  rule(front)->first = rule(of)->first;
  unhash(last);
  link(front, first);
  link(last, front);
  const Ref place = ref(new_node());
  become(place, front);
  link(of, place);
  link(place, after);
  seal();
  touch(place);
  return detached(*node(place), 1);
}

Builder::Ref Builder::detached(const Node &term, uint64_t count) {
  Node *made = new_node();
  made->kind = term.kind;
  made->id = term.id;
  made->count = count;
  if (made->kind == Kind::rule) {
    use(made->id, ref(made));
  }
  return ref(made);
}

}  // namespace cairn::grammar
