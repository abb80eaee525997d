// RowMerge: the rows of two sides of a class, whose ranks lie among each other as an Interleave says, become one.
//
// Rows share columns (the neighbour that is sent to is also received from): a pair of columns is merged once. Use one
// RowMerge for all rows of a merge, which must all be there before the first is merged: columns are known by where they
// lie. `left` is changed in place if nobody else has it: half the cost of a merge is memory. Fails only on parts that
// contradict themselves. One thread; costs what the terms of the columns cost.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "trace/code/plain_rows.h"
#include "trace/model/class_row.h"
#include "trace/values/numbering.h"

namespace cairn::trace {

class RowFields;

class RowMerge {
 public:
  explicit RowMerge(const Interleave &order) : order_(order) {}
  /// Function, site and depth must agree.
  Result<RowPointer> operator()(RowPointer left, const RowPointer &right);

  /// Whether the row has left's call, at its site, and fields of its shapes, none of which is a table, and its texts.
  static bool alike(const ClassRow &left, const PlainRows::View &right);
  /// Of rows that are alike, in left's place. If no more than `owners` have it, all of them have what it becomes.
  void operator()(RowPointer *left, const PlainRows::View &right, long owners = 1);

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
  template <typename Varied, typename ColumnOf>
  void merge_alike(RowPointer *left, const Atom *atoms, const Varied *right, const Varied *end, ColumnOf column,
                   long owners);
  void merge_atoms(RowFields *left, RowFields *right, uint32_t count, ClassRow *out);

  const Interleave &order_;
  Numbering numbers_;  ///< of the pairs
  std::vector<Pair> pairs_;
  std::vector<VariedAtom> varied_;  ///< of the row being merged; kept for its room
};

}  // namespace cairn::trace
