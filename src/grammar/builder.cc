#include "grammar/builder.h"

#include <atomic>
#include <cassert>
#include <cstring>
#include <type_traits>

namespace cairn::grammar {

using detail::Kind;
using detail::kNull;
using detail::kUnit;

static_assert(std::is_trivially_destructible_v<Builder>);

namespace {

constexpr uint32_t kFirstChunk = 32;  // units; short sequences stay small
constexpr uint32_t kLargestChunk = 1024;

}  // namespace

Builder::Builder(Arena &arena, BuilderOptions options)
    : cursors_(options.cursors),
      window_(small_window_),
      arena_(&arena),
      base_(arena.base()),
      limit_(arena.limit()),
      window_symbols_(options.window),
      small_window_(),
      saved_() {}

void *Builder::take_chunk(size_t units) {
  auto *chunk = static_cast<Chunk *>(arena_->allocate(units * kUnit));
  if (chunk == nullptr) return nullptr;
  const uint64_t end = reinterpret_cast<uintptr_t>(chunk) - base_ + units * kUnit;
  if (end / kUnit >= UINT32_MAX) {  // no Ref reaches it
    arena_->release(chunk, units * kUnit);
    return nullptr;
  }
  static_assert(sizeof(Chunk) <= kUnit);
  chunk->next = chunks_;
  chunk->units = units;
  chunks_ = chunk;
  return reinterpret_cast<uint8_t *>(chunk) + kUnit;
}

void Builder::release() {
  while (chunks_ != nullptr) {
    Chunk *next = chunks_->next;
    arena_->release(chunks_, chunks_->units * kUnit);
    chunks_ = next;
  }
  digrams_.release(*arena_);
  singles_.release(*arena_);
  starts_.release(*arena_);
  settled_.release(*arena_);
  if (window_ != small_window_) arena_->release_array(window_, capacity_);
  arena_->release_array(levels_, levels_capacity_);
}

bool Builder::reserve_nodes(uint32_t count) {
  while (free_node_count_ < count) {
    const uint32_t units = chunk_units_ == 0 ? kFirstChunk : chunk_units_;
    void *chunk = take_chunk(units);
    if (chunk == nullptr) return false;
    chunk_units_ = units < kLargestChunk ? units * 2 : units;
    const Ref first = ref(chunk);
    const uint32_t nodes = units - 1;
    for (uint32_t i = nodes; i-- > 0;) {
      node(first + i)->next = free_nodes_;
      free_nodes_ = first + i;
    }
    free_node_count_ += nodes;
  }
  return true;
}

Builder::Node *Builder::new_node() {
  Node *taken = node(free_nodes_);
  free_nodes_ = taken->next;
  --free_node_count_;
  ++node_count_;
  *taken = {};
  return taken;
}

void Builder::free_node(Ref gone) {
  Node *freed = node(gone);
  save(&freed->hash);
  freed->kind = Kind::free;
  if (!freed->queued) release_node(gone);  // or settle() does when it comes to it
}

void Builder::release_node(Ref freed) {
  save(&node(freed)->prev);
  node(freed)->next = free_nodes_;
  free_nodes_ = freed;
  ++free_node_count_;
  --node_count_;
}

bool Builder::reserve_rules(uint32_t count) {
  while (free_rule_count_ < count) {
    constexpr uint32_t kRules = 15;
    void *chunk = take_chunk(kRules * 2 + 2);
    if (chunk == nullptr) return false;
    const Ref first = ref(chunk);
    for (uint32_t i = kRules; i-- > 0;) {
      node(first + 2 * i)->next = free_rules_;
      free_rules_ = first + 2 * i;
    }
    free_rule_count_ += kRules;
  }
  return true;
}

Builder::Ref Builder::new_rule() {
  if (!reserve_rules(1)) return kNull;
  const Ref taken = free_rules_;
  free_rules_ = node(taken)->next;
  --free_rule_count_;
  ++rule_count_;
  *rule(taken) = {};
  Node &guard = rule(taken)->guard;
  guard.kind = Kind::guard;
  guard.id = taken;
  guard.prev = guard.next = taken;
  return taken;
}

void Builder::free_rule(Ref gone) {
  Node &guard = rule(gone)->guard;
  save(&guard.hash);
  save(&guard.prev);
  guard.kind = Kind::free;
  guard.next = free_rules_;
  free_rules_ = gone;
  ++free_rule_count_;
  --rule_count_;
}

bool Builder::start() {
  const Ref top = new_rule();
  if (top == kNull) return false;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  top_ = top;
  return true;
}

/// Nothing can be appended any more: no symbol is predicted, and append() comes to append_slowly() or turn().
bool Builder::stop() {
  full_ = true;
  expect_nothing();
  return false;
}

void Builder::expect_nothing() {
  predicted_ = kNoSymbol;
  at_ = 0;
  filled_ = 1;
  looping_ = false;
}

bool Builder::append_slowly(Symbol symbol) {
  if (symbol == kNoSymbol || full_) return false;
  if (top_ == kNull && !start()) return stop();
  // What was matched comes first: it may close a loop, which then expects just this symbol.
  if (matched_ != 0) {
    if (!commit() || full_) return stop();
    arm_tail();
    if (symbol == predicted_) return append(symbol);
  }
  if (arm_start(symbol)) return true;
  if (!reserve_nodes(1)) return stop();
  append_symbol(symbol);
  settle();
  pack_front();
  arm_tail();
  return true;
}

void Builder::append_symbol(Symbol symbol) {
  Node *tail = node(rule(top_)->guard.prev);
  if (tail->kind == Kind::symbol && tail->id == symbol) {
    unhash(tail->prev);
    save(&tail->count);
    ++tail->count;
    touch(tail->prev);
  } else {
    meet_again(symbol);
    Node *added = new_node();
    added->kind = Kind::symbol;
    added->id = symbol;
    added->count = 1;
    added->single = singles_.enter(*arena_, symbol, ref(added));
    if (added->single) {  // neither of its pairs is to be looked at
      const Ref last = rule(top_)->guard.prev;
      link(last, ref(added));
      link(ref(added), top_);
    } else {
      append_chain({ref(added), ref(added)});
    }
  }
  save(&committed_);
  ++committed_;
  seal();
}

/// What had one node so far will have two: its pairs go into the table, which nobody can find there before.
void Builder::meet_again(Symbol symbol) {
  const Ref known = singles_.place(symbol);
  if (known == kNull) return;
  assert(node(known)->single && node(known)->id == symbol);
  node(known)->single = false;
  singles_.know(symbol);
  touch(known);
  touch(node(known)->prev);
  settle();
}

/// Moves terms from the front of the top rule to the packed ones, if nodes are many for the symbols they stand for.
void Builder::pack_front() {
  constexpr int kMost = 8;       // an append adds one node; so the front is caught up with, a little at a time
  constexpr uint64_t kPoor = 4;  // symbols a node
  for (int i = 0; i < kMost && committed_ - settled_length_ > window_symbols_; ++i) {
    if ((node_count_ + settled_count_) * kPoor < committed_) break;
    const Ref front = rule(top_)->guard.next;
    const Node &term = *node(front);
    const uint64_t length = term.count * unit_length(term);
    if (committed_ - settled_length_ - length < window_symbols_ || front == rule(top_)->guard.prev) break;
    if (!settled_.add(*arena_, term.kind == Kind::rule, term.id, term.count)) break;
    unhash(front);
    link(top_, term.next);
    save(settled_.last_word());
    settled_.take_in();
    if (term.kind == Kind::rule) {
      ++rule(term.id)->pins;
      unuse(term.id, front);
    } else if (term.single) {
      singles_.forget(*arena_, term.id);
    }
    free_node(front);
    seal();
    settled_length_ += length;
    ++settled_count_;
  }
  settle();
}

}  // namespace cairn::grammar
