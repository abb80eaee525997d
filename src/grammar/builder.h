// Builder: a sequence of symbols becomes a grammar while it is produced (Sequitur with repetition counts;
// Nevill-Manning & Witten 1997, "Identifying hierarchical structure in sequences", section 3; Pilgrim section 2.2),
// with cursors in front of it so that repetitive input costs a few nanoseconds a symbol.
//
// Sequitur in a line: of a b c a b, the pair "a b" stands twice, so a rule R = a b takes both places: R c R. Two
// properties hold after each append: no pair of neighbours (digram) stands twice, and every rule is used at least
// twice, or once with a count. sequitur.cc restores them; each repair loses a node or makes a rule that has to be paid
// back, so that a symbol costs O(1), amortised, and memory is linear in the grammar.
//
// Why counts (R^n): without them a loop of n rounds is log2 n rules, each the double of another, and what a person
// calls one loop is cut in another way for each n, so that ranks with 100 and 101 rounds have nothing in common. Why
// this and not a better compressor: Re-Pair and suffix arrays find smaller grammars, but need the whole sequence; what
// a tracer keeps has to be small and readable after every call. Searching a window of what came last for the loop
// (ScalaTrace, section 2) costs a look at the window for each call, and a body that is longer than it is never found.
//
// Symbols are 32-bit, dense ids from 0 (kNoSymbol excluded). All memory comes from the Arena given; nothing
// throws. One thread at a time. A Builder is trivially destructible and may itself lie in the arena; if that is a
// shared mapping, `Grammar::from` reads it after the writer was killed.
//
// Between two slow appends a cursor follows a rule (or a run of one symbol): symbols that match only move it. What it
// has matched becomes part of the rules (`commit`) when a symbol does not match. See cursor.cc. Plain Sequitur pays for
// a hash, a look-up and some links at each symbol, even in a loop; a cursor compares with a word that was read ahead
// (bench/grammar_bench.cc has both).
//
// The rules change in steps, each of which leaves the sequence as it was or adds to it. A step saves the words that it
// changes before it does (16 at most), so that a reader can see a step that was cut off as if it had not begun. A
// second copy of the grammar would cost its size again, and a log on disk a system call; this costs a few stores in a
// slow append, and nothing while a cursor matches.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <cstring>

#include "base/arena.h"
#include "grammar/digram_table.h"
#include "grammar/node.h"
#include "grammar/rule_starts.h"
#include "grammar/settled_terms.h"
#include "grammar/single_symbols.h"

namespace cairn::grammar {

struct BuilderOptions {
  bool cursors = true;  ///< off: plain Sequitur, to compare with
  /// What does not compress is kept as rules for so many symbols, then packed: a repetition that is longer apart
  /// goes unseen, and a symbol costs a few bytes.
  uint64_t window = uint64_t{1} << 17;
};

class Builder {
 public:
  explicit Builder(Arena &arena, BuilderOptions options = {});
  Builder(const Builder &) = delete;
  Builder &operator=(const Builder &) = delete;

  /// Adds one symbol at the end. False when the arena is full: the symbol was NOT added, the grammar is still
  /// valid for everything before it, and only extracting it makes sense now.
  bool append(Symbol symbol) {
    if (symbol != predicted_) [[unlikely]]
      return append_slowly(symbol);
    return append_predicted();
  }

  /// Adds what `predict` gives, which is a symbol.
  bool append_predicted() {
    ++matched_;
    if (++at_ == filled_) [[unlikely]] {
      if (!looping_) return turn();
      at_ = 0;
    }
    predicted_ = window_[at_];
    return true;
  }

  /// What the grammar expects next (the cursor's next symbol), or kNoSymbol. O(1), no side effects.
  [[nodiscard]] Symbol predict() const { return predicted_; }

  /// Gives all memory back to the arena; the Builder must not be used any more.
  void release();

  /// Symbols appended so far.
  [[nodiscard]] uint64_t length() const { return committed_ + matched_; }

  /// Terms that the rules have, without what a cursor has matched.
  [[nodiscard]] uint64_t terms() const { return node_count_ + settled_count_; }

 private:
  friend class Extraction;
  friend class BuilderAudit;  // tests look at the two properties
  using Node = detail::Node;
  using Rule = detail::Rule;
  using Ref = detail::Ref;

  enum class Follows : uint8_t {
    nothing,
    tail,   ///< the last term of the top rule, once more
    start,  ///< a rule that starts with the last symbol
  };
  /// A place on the way down to the symbol that comes into the window next.
  struct Level {
    Ref at;
    uint64_t left;  ///< repetitions that still have to begin
  };
  /// Nodes that hang together and are in no ring yet.
  struct Chain {
    Ref first = detail::kNull;
    Ref last = detail::kNull;
  };
  /// A word as it was before the change in progress.
  struct Saved {
    uintptr_t where;
    uint64_t old;
  };
  static constexpr uint32_t kMostSaved = 24;  ///< a change saves 16 words at most
  static constexpr uint32_t kSmallWindow = 16;
  static constexpr uint32_t kWindow = 4096;

  [[nodiscard]] Node *node(Ref ref) const {
    return reinterpret_cast<Node *>(base_ - detail::kUnit + ref * detail::kUnit);
  }
  [[nodiscard]] Rule *rule(Ref ref) const { return reinterpret_cast<Rule *>(node(ref)); }
  [[nodiscard]] Ref ref(const void *unit) const {
    return static_cast<Ref>((reinterpret_cast<uintptr_t>(unit) - base_) / detail::kUnit) + 1;
  }
  /// Symbols that one repetition of a term stands for.
  [[nodiscard]] uint64_t unit_length(const Node &term) const {
    return term.kind == detail::Kind::rule ? rule(term.id)->length : 1;
  }

  // Of a killed process, the kernel keeps every store that was executed, in order; so only the compiler's order
  // matters.

  /// To be called before a word changes that says what the sequence is: a node's links, term, count or kind, lengths.
  void save(const void *word) {
    assert(saved_count_ < kMostSaved);
    Saved &saved = saved_[saved_count_];
    saved.where = reinterpret_cast<uintptr_t>(word);
    std::memcpy(&saved.old, word, sizeof saved.old);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    ++saved_count_;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  /// The step is done.
  void seal() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    saved_count_ = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }

  /// Stands in the first unit of what was taken from the arena at once.
  struct Chunk {
    Chunk *next;
    size_t units;
  };

  // builder.cc: memory, and the slow path
  bool append_slowly(Symbol symbol);
  void append_symbol(Symbol symbol);
  void meet_again(Symbol symbol);
  bool start();
  bool stop();
  void expect_nothing();
  void *take_chunk(size_t units);
  bool reserve_nodes(uint32_t count);
  bool reserve_rules(uint32_t count);
  Node *new_node();
  void free_node(Ref gone);
  void release_node(Ref freed);
  Ref new_rule();
  void free_rule(Ref gone);
  void pack_front();

  // cursor.cc: following and committing
  bool turn();
  void arm_tail();
  bool arm_start(Symbol symbol);
  void follow(Ref of, Symbol first, uint64_t length, Follows what);
  void look_ahead();
  uint32_t walk(Symbol *out, uint32_t count);
  bool descend(Ref of);
  void grow_window();
  void note_start(Ref of);
  bool commit();
  bool reserve_partial(Ref of, uint64_t rest);
  Chain take_partial(Ref of, uint64_t rest);
  Ref split(Ref of, Ref last, uint64_t length);
  Ref detached(const Node &term, uint64_t count);

  // sequitur.cc: the grammar's two properties
  void append_chain(const Chain &chain);
  void settle();
  void touch(Ref left);
  void unhash(Ref left);
  void check(Ref left);
  void merge(Ref left);
  bool share(Ref left, Ref twin);
  void replace(Ref left, Ref by);
  void become(Ref at, Ref of);
  void link(Ref left, Ref right);
  void use(Ref of, Ref user);
  void unuse(Ref of, Ref user);
  void consider(Ref of);
  void inline_last_use(Ref of);

  // What the fast path touches lies together.
  Symbol predicted_ = kNoSymbol;
  uint32_t at_ = 0;       ///< of `predicted_` in the window
  uint32_t filled_ = 1;   ///< symbols in the window
  bool looping_ = false;  ///< after the window comes its start again
  bool full_ = false;     ///< something could not be allocated
  bool cursors_;
  Follows follows_ = Follows::nothing;
  Symbol *window_;
  uint64_t matched_ = 0;    ///< symbols that followed the cursor and are not in the rules; alone says how far it is
  uint64_t committed_ = 0;  ///< symbols that the rules hold

  Ref followed_ = detail::kNull;  ///< rule, or kNull if the tail is a symbol
  uint32_t saved_count_ = 0;      ///< not 0 while a change is in progress
  uint64_t followed_length_ = 0;
  Ref top_ = detail::kNull;  ///< the rule that is the sequence

  Ref dirty_nodes_ = detail::kNull;  ///< worklist: digrams to check
  Ref dirty_rules_ = detail::kNull;  ///< worklist: rules that may be used once
  Ref free_nodes_ = detail::kNull;
  Ref free_rules_ = detail::kNull;
  uint32_t free_node_count_ = 0;
  uint32_t free_rule_count_ = 0;
  uint32_t rule_count_ = 0;
  uint64_t node_count_ = 0;
  uint32_t chunk_units_ = 0;

  Chunk *chunks_ = nullptr;
  Arena *arena_;
  uintptr_t base_;  ///< the arena's, kept here: fixed for life
  uint64_t limit_;
  detail::DigramTable digrams_;
  detail::SingleSymbols singles_;
  detail::RuleStarts starts_;
  int64_t start_credit_ = 0;  ///< symbols that cursors on rule starts have saved, about
  uint32_t starts_skipped_ = 0;

  uint64_t window_symbols_;
  detail::SettledTerms settled_;  ///< what came before the top rule
  uint64_t settled_length_ = 0;
  uint64_t settled_count_ = 0;

  bool slid_ = false;  ///< the window no longer begins where the rule does
  uint32_t capacity_ = kSmallWindow;
  uint64_t ahead_ = 0;  ///< symbols of this round that were put into the window
  Level *levels_ = nullptr;
  uint32_t depth_ = 0;
  uint32_t levels_capacity_ = 0;
  Symbol small_window_[kSmallWindow];
  Saved saved_[kMostSaved];
};

}  // namespace cairn::grammar
