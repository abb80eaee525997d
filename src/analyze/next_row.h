// NextRow: where the next of some rows is in a sequence, without going through those before it.
//
// Made in one visit of the class's grammar. Borrows the trace. Const; any thread. A question costs what PrefixSums say
// (grammar/prefix_sums.h).
#pragma once

#include <cstdint>
#include <functional>

#include "grammar/prefix_sums.h"
#include "grammar/symbol_count.h"
#include "trace/read/events.h"

namespace cairn::analyze {

class NextRow {
 public:
  /// `wanted`: by number.
  NextRow(const trace::Trace &trace, uint32_t class_index,
          const std::function<bool(uint32_t row, const trace::Structure::RowHead &head)> &wanted);
  /// The first of them at `row` of the class's sequence or behind (Event::row_place); how many rows there are if there
  /// is none.
  [[nodiscard]] uint64_t from(uint64_t row) const;

 private:
  grammar::PrefixSums<grammar::SymbolCount> sums_;
};

}  // namespace cairn::analyze
