// The two properties of a Builder's grammar and how a change restores them:
//  - digram uniqueness: no pair of neighbouring terms (ids and counts) stands twice in the rules; pairs with a symbol
//    that has one node cannot, and are not looked at (single_symbols.h);
//  - rule utility: every rule stands at least twice, or once with a count.
//
// Nothing recurses. What a change may have broken goes on one of two worklists, through links in the nodes
// themselves, and settle() works them off. A digram leaves the table before any part of it changes (`unhash`) and is
// checked again afterwards (`touch`), so the table never holds a digram that is not there.
// It ends: merging, replacing and inlining lose a node, a new rule keeps the number of nodes and there are
// never more rules than nodes.
#include <cassert>

#include "grammar/builder.h"

namespace cairn::grammar {

using detail::Kind;
using detail::kNull;
using detail::Node;
using detail::Ref;

namespace {

uint32_t digram_hash(const Node &left, const Node &right) {
  const auto word = [](const Node &node) {
    return (static_cast<uint64_t>(node.kind) << 32 | node.id) + (node.count << 34);
  };
  uint64_t hash = word(left) * 0x9E3779B97F4A7C15ULL;
  hash ^= hash >> 29;
  hash = (hash + word(right)) * 0xBF58476D1CE4E5B9ULL;
  hash ^= hash >> 32;
  hash *= 0x94D049BB133111EBULL;
  return static_cast<uint32_t>(hash >> 32);
}

bool same_id(const Node &a, const Node &b) { return a.id == b.id && a.kind == b.kind; }
bool same_term(const Node &a, const Node &b) { return same_id(a, b) && a.count == b.count; }

}  // namespace

void Builder::link(Ref left, Ref right) {
  save(&node(left)->prev);  // the word that holds both links
  save(&node(right)->prev);
  node(left)->next = right;
  node(right)->prev = left;
}

void Builder::use(Ref of, Ref user) {
  ++rule(of)->uses;
  rule(of)->users ^= user;
}

void Builder::unuse(Ref of, Ref user) {
  assert(rule(of)->guard.kind == Kind::guard && rule(of)->uses > 0);
  --rule(of)->uses;
  rule(of)->users ^= user;
  consider(of);
}

void Builder::consider(Ref of) {
  Node &guard = rule(of)->guard;
  if (guard.queued || rule(of)->uses > 1) return;
  guard.queued = true;
  guard.pending = dirty_rules_;
  dirty_rules_ = of;
}

void Builder::touch(Ref left) {
  Node *touched = node(left);
  if (touched->queued || touched->kind == Kind::guard) return;
  touched->queued = true;
  touched->pending = dirty_nodes_;
  dirty_nodes_ = left;
}

void Builder::unhash(Ref left) {
  Node *changed = node(left);
  if (!changed->hashed) return;
  digrams_.remove(*arena_, left, changed->hash, [this](Ref other) { return node(other)->hash; });
  changed->hashed = false;
}

/// Puts nodes that are in no ring at the end of the top rule.
void Builder::append_chain(const Chain &chain) {
  const Ref tail = rule(top_)->guard.prev;
  link(tail, chain.first);
  link(chain.last, top_);
  // The worklist is a stack: what comes first in the sequence is to be looked at first.
  for (Ref at = node(chain.last)->prev; at != tail; at = node(at)->prev) touch(at);
  touch(tail);
}

void Builder::settle() {
  for (;;) {
    if (dirty_nodes_ != kNull) {
      const Ref next = dirty_nodes_;
      Node *dirty = node(next);
      dirty_nodes_ = dirty->pending;
      dirty->queued = false;
      if (dirty->kind == Kind::free) {
        release_node(next);
        seal();
      } else {
        check(next);
      }
    } else if (dirty_rules_ != kNull) {
      const Ref next = dirty_rules_;
      Rule *dirty = rule(next);
      dirty_rules_ = dirty->guard.pending;
      dirty->guard.queued = false;
      if (dirty->uses == 1 && dirty->pins == 0 && node(dirty->users)->count == 1) inline_last_use(next);
    } else {
      assert(saved_count_ == 0);
      return;
    }
  }
}

/// Restores digram uniqueness for the pair that starts at `left`.
void Builder::check(Ref left) {
  Node *first = node(left);
  const Ref right = first->next;
  Node *second = node(right);
  if (first->hashed || second->kind == Kind::guard) return;
  if (same_id(*first, *second)) {
    merge(left);
    return;
  }
  if (first->single || second->single) return;  // until their symbols come again
  const uint32_t hash = digram_hash(*first, *second);
  const Ref twin = digrams_.find(hash, [&](Ref other) {
    const Node *found = node(other);
    return same_term(*found, *first) && same_term(*node(found->next), *second);
  });
  if (twin != kNull) {
    if (!share(left, twin)) full_ = true;  // no memory for a rule: the pair stays twice
    return;
  }
  if (!digrams_.insert(*arena_, left, hash, [this](Ref other) { return node(other)->hash; })) {
    full_ = true;
    return;
  }
  first->hash = hash;
  first->hashed = true;
}

/// Aⁱ Aʲ → Aⁱ⁺ʲ
void Builder::merge(Ref left) {
  Node *first = node(left);
  const Ref right = first->next;
  Node *second = node(right);
  assert(same_id(*first, *second) && !first->hashed && !first->single && !second->single);
  unhash(first->prev);
  unhash(right);
  save(&first->count);
  first->count += second->count;
  link(left, second->next);
  if (second->kind == Kind::rule) unuse(second->id, right);
  free_node(right);
  seal();
  touch(left);
  touch(first->prev);
}

/// The pair at `left` also stands at `twin`: both become uses of one rule.
bool Builder::share(Ref left, Ref twin) {
  Node *first = node(twin);
  const Ref right = first->next;
  Node *second = node(right);
  const Ref spare = node(left)->next;
  assert(same_term(*first, *node(left)) && same_term(*second, *node(spare)));
  assert(left != right && spare != twin);  // pairs that overlap are of equal terms, which `merge` has joined
  if (first->prev == second->next && first->prev != top_) {  // only a guard is both: the pair is all of that rule
    replace(left, first->prev);
    free_node(spare);
    seal();
    return true;
  }
  const Ref made = new_rule();
  if (made == kNull) return false;
  rule(made)->length = unit_length(*first) * first->count + unit_length(*second) * second->count;
  rule(made)->first = first->kind == Kind::rule ? rule(first->id)->first : first->id;

  // The twin's two nodes become the body, hashed as they are. Of the other two, the first stands for its own pair
  // and the second takes the twin's place, so that a new rule needs no new nodes.
  unhash(first->prev);
  unhash(right);
  replace(left, made);
  const Ref before = first->prev;
  const Ref after = second->next;
  link(made, twin);
  link(right, made);
  become(spare, made);
  link(before, spare);
  link(spare, after);
  seal();
  touch(before);
  touch(spare);
  note_start(made);
  return true;
}

/// Makes `at` a single use of a rule; its links are the caller's to set.
void Builder::become(Ref at, Ref of) {
  Node *changed = node(at);
  save(&changed->id);
  save(&changed->count);
  save(&changed->hash);
  changed->kind = Kind::rule;
  changed->id = of;
  changed->count = 1;
  use(of, at);
}

/// The pair at `left` gives way to one use of `by`; the second node is the caller's.
void Builder::replace(Ref left, Ref by) {
  Node *first = node(left);
  const Ref right = first->next;
  Node *second = node(right);
  unhash(first->prev);
  unhash(right);
  link(left, second->next);
  if (second->kind == Kind::rule) unuse(second->id, right);
  if (first->kind == Kind::rule) unuse(first->id, left);
  become(left, by);
  touch(first->prev);
  touch(left);
}

/// The rule's only use, which has count 1, gives way to its body.
void Builder::inline_last_use(Ref of) {
  Rule *gone = rule(of);
  const Ref place = gone->users;
  const Ref before = node(place)->prev;
  const Ref after = node(place)->next;
  const Ref first = gone->guard.next;
  const Ref last = gone->guard.prev;
  assert(gone->uses == 1 && gone->pins == 0 && of != top_);
  assert(node(place)->kind == Kind::rule && node(place)->id == of && node(place)->count == 1);
  unhash(before);
  unhash(place);
  link(before, first);
  link(last, after);
  free_node(place);
  free_rule(of);
  seal();
  if (node(before)->kind == Kind::guard && before != top_) note_start(before);
  touch(before);
  touch(last);
}

}  // namespace cairn::grammar
