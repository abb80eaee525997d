// SequenceHash: a hash of a sequence that composes over concatenation and powers, so that it can be computed
// on a grammar and does not depend on how the sequence was parsed.
//
// Ranks are compared by it: equal sequences are often parsed in other ways, so that comparing rules, or hashing their
// bytes, would take them for different, and hashing what they expand to costs the calls and not the terms.
//
// Polynomial fingerprints (Karp & Rabin 1987, "Efficient randomized pattern-matching algorithms"; on grammars as in
// Gagie et al. 2012, "A faster grammar-based self-index") modulo the prime 2^61 - 1, in two lanes with bases of
// their own. With the symbols mixed to s1…sn, a lane is the sum of si * B^(n-i), and
//     hash(xy) = hash(x) * B^|y| + hash(y),
// so (hash, B^length) is a monoid and powers take logarithmically many steps. Two different sequences of length n
// collide with probability at most (n / 2^61)² over the choice of bases; these are fixed, so nothing defends
// against sequences that were made to collide.
#pragma once

#include <cstdint>

#include "base/hash.h"
#include "grammar/node.h"

namespace cairn::grammar {

class SequenceHash {
 public:
  SequenceHash() = default;  ///< of the empty sequence
  static SequenceHash of(Symbol symbol);

  [[nodiscard]] SequenceHash then(const SequenceHash &next) const;
  [[nodiscard]] SequenceHash times(uint64_t count) const;
  /// Of what stands behind `first`, which this sequence must begin with.
  [[nodiscard]] SequenceHash behind(const SequenceHash &first) const;
  [[nodiscard]] Hash128 value() const;

 private:
  struct Lane {
    uint64_t sum = 0;
    uint64_t power = 1;
  };
  Lane lanes_[2];
  uint64_t length_ = 0;  ///< modulo 2^64
};

}  // namespace cairn::grammar
