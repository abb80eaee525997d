// RuleStarts: for a symbol, a long rule that starts with it.
//
// Where input leaves the loop that a cursor follows, it mostly goes on with another body that is known; this finds it,
// so that a whole match is one append and not one a symbol. Without it a cursor on loops with noise is slower than
// none: each departure pays for arming, and then for Sequitur's repairs symbol by symbol.
//
// Owned by a Builder, memory from its arena. It is a cache with one place a symbol: entries are checked when used, so
// nothing has to be kept up to date when rules vanish, and what does not fit is forgotten. Of several rules the longest
// is kept: it gains most if it fits. A map of all rules by their starts would find more, and have to be mended with
// every rule that is made, split or inlined.
#pragma once

#include <cstdint>

#include "base/arena.h"
#include "grammar/node.h"

namespace cairn::grammar::detail {

class RuleStarts {
 public:
  /// The place for a symbol, or nullptr before any was noted.
  [[nodiscard]] Ref *place(uint32_t symbol) const { return places_ == nullptr ? nullptr : places_ + index(symbol); }

  /// Makes room for so many rules, as far as there is memory; what is in it moves. `first_of(Ref)` gives
  /// the symbol that a live rule starts with.
  template <typename FirstOf>
  void fit(Arena &arena, uint32_t rules, const FirstOf &first_of) {
    const uint32_t size = places_ == nullptr ? 0 : 1U << (32 - shift_);
    if (rules <= size || size >= kMost) return;
    const uint32_t larger = size == 0 ? kFirst : size * 4;
    Ref *old = places_;
    Ref *places = arena.allocate_array<Ref>(larger);
    if (places == nullptr) return;
    places_ = places;
    shift_ = 32U - static_cast<uint32_t>(__builtin_ctz(larger));
    for (uint32_t i = 0; i < size; ++i) {
      if (old[i] != kNull) places_[index(first_of(old[i]))] = old[i];
    }
    arena.release_array(old, size);
  }

  /// Gives its memory back.
  void release(Arena &arena) {
    if (places_ != nullptr) arena.release_array(places_, size_t{1} << (32 - shift_));
    places_ = nullptr;
  }

 private:
  static constexpr uint32_t kFirst = 16;
  static constexpr uint32_t kMost = 1U << 14;
  [[nodiscard]] uint32_t index(uint32_t symbol) const { return symbol * 0x9E3779B1U >> shift_; }
  Ref *places_ = nullptr;
  uint32_t shift_ = 0;
};

}  // namespace cairn::grammar::detail
