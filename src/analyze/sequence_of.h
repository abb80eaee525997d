// For tests: the calls of one thread.
#pragma once

#include <vector>

#include "trace/model/record.h"

namespace cairn::analyze {

/// These calls, once each, in this order.
inline trace::SequenceRecord sequence_of(const std::vector<trace::Row> &rows) {
  trace::SequenceRecord sequence;
  std::vector<grammar::Symbol> symbols;
  for (const trace::Row &row : rows) {
    ByteWriter packed;
    trace::pack_row(row, packed);
    symbols.push_back(static_cast<grammar::Symbol>(sequence.rows.size()));
    sequence.rows.push_back(packed.take());
  }
  sequence.calls = grammar::Grammar::from_symbols(symbols);
  return sequence;
}

}  // namespace cairn::analyze
