// RowMerge: the rows of two sides of a class, whose ranks lie among each other as an Interleave says, become one.
//
// Rows share columns (the neighbour that is sent to is also received from): a pair of columns is merged once. Use one
// RowMerge for all rows of a merge, which must all be there before the first is merged: columns are known by where they
// lie. `left` is changed in place if nobody else has it: half the cost of a merge is memory. Fails only on parts that
// contradict themselves. One thread; costs what the terms of the columns cost.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "trace/model/class_row.h"
#include "trace/values/numbering.h"

namespace cairn::trace {

class RowFields;

class RowMerge {
 public:
  explicit RowMerge(const Interleave &order) : order_(order) {}
  /// Function, site and depth must agree.
  Result<RowPointer> operator()(RowPointer left, const RowPointer &right);

  /// What differs between ranks of a row, whoever holds the column.
  struct Varied {
    uint32_t slot;
    const FoldColumn *column;
  };
  /// Of rows whose call, site, fields' shapes and texts agree and that have no tables, in left's place: right has these
  /// atoms and these columns. If no more than `owners` have left's, all of them have what it becomes.
  void merge_alike(RowPointer *left, std::span<const Atom> atoms, std::span<const Varied> right, long owners = 1);

 private:
  /// An atom, or a column if it is not the same on all ranks.
  struct Side {
    const FoldColumn *column;
    Atom atom;
    bool operator==(const Side &) const = default;
  };
  struct Pair {
    Side left;
    Side right;
    ColumnPointer merged;
  };
  ColumnPointer merged(const Side &left, const Side &right);
  void merge_atoms(RowFields *left, RowFields *right, uint32_t count, ClassRow *out);

  const Interleave &order_;
  Numbering numbers_;  ///< of the pairs
  std::vector<Pair> pairs_;
  std::vector<VariedAtom> varied_;  ///< of the row being merged; kept for its room
  std::vector<Varied> right_;       ///< the same
};

}  // namespace cairn::trace
