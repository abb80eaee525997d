// ClassRow: one row of a class, for all its members: what is the same everywhere is stored once, what differs is a
// column along the ranks.
//
// The fields lie flat: `heads` says what each field is; the atoms of fields whose shape is the same on all members
// lie in `atoms`, those that differ are named in `varied`; fields of bytes that all share are in `texts`; fields that
// differ in shape, or are bytes that differ, are in `tables` (of packed fields). Head, site and depth are part of a
// class's structure and never differ.
//
// Immutable once made and shared between classes, hence the shared pointers. Merging costs what the terms of its
// columns cost; only a field whose shape begins to differ while it has columns is expanded.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trace/record.h"
#include "trace/values_column.h"

namespace cairn::trace {

struct FieldHead {
  enum Kind : uint8_t { atoms, text, table };
  Kind kind = atoms;
  uint32_t count = 0;  ///< of atoms; 1 for the others
  bool operator==(const FieldHead &) const = default;
};

using ColumnPointer = std::shared_ptr<const FoldColumn>;
using TablePointer = std::shared_ptr<const ValuesColumn>;

struct VariedAtom {
  uint32_t slot = 0;  ///< index into ClassRow::atoms, where 0 stands
  ColumnPointer column;
};

struct ClassRow {
  uint32_t function = 0;
  uint32_t site = 0;  ///< number in the class's sites
  uint32_t depth = 0;
  std::vector<FieldHead> heads;
  std::vector<Atom> atoms;
  std::vector<VariedAtom> varied;  ///< by slot
  std::vector<Bytes> texts;
  std::vector<TablePointer> tables;

  static ClassRow of(const Row &row);
  /// The row as it is on the member at this place.
  [[nodiscard]] Row at(uint64_t member) const;
};

using RowPointer = std::shared_ptr<const ClassRow>;

/// The rows of the two sides of a class; function, site and depth must agree. Fails only on parts that contradict
/// themselves.
Result<RowPointer> merge_rows(const RowPointer &left, const RowPointer &right, const Interleave &order);

}  // namespace cairn::trace
