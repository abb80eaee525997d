// Combinations: how often each row of a class's calls stands with which values of its streams.
//
// Worked out on the grammars, by their product (grammar/product.h); where that grows too large, by going through the
// calls. Plain function. Cost: the terms of the grammars and of their products, of which it gives up on those of more
// than 4,096 + 64 a term, or the calls.
#pragma once

#include <cstdint>
#include <vector>

#include "grammar/grammar.h"
#include "trace/model/class_part.h"
#include "trace/read/partial_rows.h"

namespace cairn::trace {

/// A stream of a field asked for, as some members have it.
struct AskedStream {
  uint32_t field = 0;
  Asked asked = Asked::no;
  const StreamVariant *variant = nullptr;
};

/// A row with these values of its streams.
struct Combination {
  uint32_t row = 0;
  std::vector<grammar::Symbol> values;  ///< by stream
  uint64_t count = 0;
};

/// `rows`: the calls that have these streams, of which there must be one.
std::vector<Combination> combinations(const grammar::Grammar &rows, const std::vector<AskedStream> &streams);

}  // namespace cairn::trace
