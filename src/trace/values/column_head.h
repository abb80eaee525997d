// How a column in a file begins (docs/format.md, "Columns"): the first varint of each form but the folded one, which
// begins with twice the number of its bodies, an even number.
//
// FoldColumn writes and reads what a column is by itself; what several columns are together, or what others tell of
// one, EqualColumns, RunColumns and the pool of a section do (PoolWriter, PoolReader).
#pragma once

#include <cstdint>

namespace cairn::trace {

enum ColumnHead : uint64_t {
  kPlainColumn = 1,   ///< a varint a value
  kEqualColumns = 3,  ///< one or several, with as many bytes for each value: equal_columns.h
  kRanksPlus = 5,     ///< a distance: the column of whoever names it is that from its ranks
  kMirrored = 7,      ///< what columns before it say, from the other side: PoolWriter::exchanged
  kLaggedColumn = 9,  ///< a distance, and differences from the values so far before: fold_column_lag.cc
  kRunColumns = 11,   ///< several that change at the same places: run_columns.h
};

}  // namespace cairn::trace
