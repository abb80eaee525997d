// SymbolCount: how many of some symbols there are, for PrefixSums (prefix_sums.h).
#pragma once

#include <cstdint>
#include <vector>

#include "grammar/grammar.h"

namespace cairn::grammar {

struct SymbolCount {
  using Sum = uint64_t;
  using Kept = uint64_t;
  std::vector<bool> counted;  ///< by symbol
  static Sum nothing() { return 0; }
  void add(Sum *sum, Symbol symbol, uint64_t times) const { *sum += counted[symbol] ? times : 0; }
  static void add(Sum *sum, const Kept &rule, uint64_t times) { *sum += rule * times; }
  static Kept keep(const Sum &sum) { return sum; }
};

}  // namespace cairn::grammar
