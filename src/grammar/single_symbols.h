// SingleSymbols: of the symbols that have one node so far, where that is.
//
// A pair of terms can only stand twice if both do. So while a symbol has one node, no pair with it is put into the
// table of digrams: the node is marked `single`, and when its symbol comes again its pairs go into the table just
// before. The rules come out as if they had been there all along. Input that never repeats so costs a store a symbol,
// in order, instead of a hash, a line of a table that is as large as the grammar, and that table's growth.
//
// Owned by a Builder, memory from its arena, four bytes a symbol; one thread. What is forgotten gives its memory back.
// Symbols are numbered in the order in which they first appear, or nearly; from the first on that is far ahead of the
// others all count as known (they are no numbers of anything), as all do without memory.
#pragma once

#include <cassert>
#include <cstring>

#include "base/arena.h"
#include "grammar/node.h"

namespace cairn::grammar::detail {

class SingleSymbols {
 public:
  /// Its only node; kNull if it has none, or may have several.
  [[nodiscard]] Ref place(Symbol symbol) const {
    if (symbol / kChunk >= chunk_count_) return kNull;
    const Chunk &chunk = chunks_[symbol / kChunk];
    const Ref there = chunk.places == nullptr ? kNull : chunk.places[symbol % kChunk];
    return there == kKnown ? kNull : there;
  }
  /// The symbol gets a node. Whether that is its only one.
  bool enter(Arena &arena, Symbol symbol, Ref node) {
    if (symbol >= end_) return false;
    Ref *place = room(arena, symbol);
    if (place == nullptr) end_ = symbol;
    if (place == nullptr || *place == kKnown) return false;
    assert(*place == kNull);
    *place = node;
    ++chunks_[symbol / kChunk].used;
    return true;
  }
  /// What has one node will have several.
  void know(Symbol symbol) { chunks_[symbol / kChunk].places[symbol % kChunk] = kKnown; }
  /// Its only node is gone.
  void forget(Arena &arena, Symbol symbol) {
    Chunk &chunk = chunks_[symbol / kChunk];
    chunk.places[symbol % kChunk] = kNull;
    if (--chunk.used != 0) return;
    arena.release_array(chunk.places, kChunk);
    chunk.places = nullptr;
  }

  /// Gives its memory back.
  void release(Arena &arena) {
    for (uint32_t i = 0; i < chunk_count_; ++i) arena.release_array(chunks_[i].places, kChunk);
    arena.release_array(chunks_, chunk_count_);
    *this = {};
  }

 private:
  static constexpr Symbol kChunk = 64;
  static constexpr Symbol kGap = 64;
  static constexpr uint32_t kFirstChunks = 4;  // short sequences stay small
  static constexpr Ref kKnown = UINT32_MAX;
  struct Chunk {
    Ref *places;    ///< nullptr: none of them has a node
    uint32_t used;  ///< of them, single or known
  };

  /// Where a symbol's node is noted; nullptr without memory, or far ahead of all others.
  Ref *room(Arena &arena, Symbol symbol) {
    if (symbol >= next_) {
      if (symbol - next_ > kGap) return nullptr;
      if (symbol / kChunk >= chunk_count_ && !grow(arena)) return nullptr;
      next_ = symbol + 1;
    }
    Chunk &chunk = chunks_[symbol / kChunk];
    if (chunk.places == nullptr) chunk.places = arena.allocate_array<Ref>(kChunk);
    return chunk.places == nullptr ? nullptr : chunk.places + symbol % kChunk;
  }

  /// Twice as many chunks: enough, since kGap is less than one.
  bool grow(Arena &arena) {
    static_assert(kGap <= kChunk);
    const uint32_t larger = chunk_count_ == 0 ? kFirstChunks : chunk_count_ * 2;
    auto *chunks = arena.allocate_array<Chunk>(larger);
    if (chunks == nullptr) return false;
    if (chunk_count_ != 0) std::memcpy(chunks, chunks_, chunk_count_ * sizeof(Chunk));
    arena.release_array(chunks_, chunk_count_);
    chunks_ = chunks;
    chunk_count_ = larger;
    return true;
  }

  Chunk *chunks_ = nullptr;
  uint32_t chunk_count_ = 0;
  Symbol next_ = 0;         ///< above all that were asked
  Symbol end_ = kNoSymbol;  ///< from here on no more is noted: all of them may have been met
};

}  // namespace cairn::grammar::detail
