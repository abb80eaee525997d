// ClassRow: one row of a class, for all its members: what is the same everywhere is stored once, what differs is a
// column along the ranks.
//
// The fields lie flat: `heads` says what each field is; the atoms of fields whose shape is the same on all members
// lie in `atoms`, those that differ are named in `varied`; fields of bytes that all share are in `texts`; fields that
// differ in shape, or are bytes that differ, are in `tables` (of packed fields); fields that have moved into a stream
// are nowhere here. Function, site and depth are part of a class's structure and never differ.
//
// What a row stands for, a call or many, is its kind: row_kind.h.
//
// Immutable once made and shared between classes, hence the shared pointers. Merging costs what the terms of its
// columns cost; only a field whose shape begins to differ while it has columns is expanded.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/seldom.h"
#include "trace/model/record.h"
#include "trace/model/row_kind.h"
#include "trace/values/values_column.h"

namespace cairn::trace {

/// In four bytes: a run whose ranks never do the same twice has a row for each call.
struct FieldHead {
  enum Kind : uint8_t { atoms, text, table, moved };
  static constexpr uint32_t kMostAtoms = (uint32_t{1} << 30) - 1;

  FieldHead() = default;
  FieldHead(Kind of, uint32_t how_many) : kind(of), count(how_many & kMostAtoms) { assert(how_many <= kMostAtoms); }
  Kind kind : 2 = atoms;
  uint32_t count : 30 = 0;  ///< of atoms; 0 for what has moved, 1 for the others
  bool operator==(const FieldHead &other) const { return kind == other.kind && count == other.count; }
};
static_assert(sizeof(FieldHead) == sizeof(uint32_t));

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
  RowKind kind;
  std::vector<FieldHead> heads;
  std::vector<Atom> atoms;
  Seldom<VariedAtom> varied;  ///< by slot
  Seldom<Bytes> texts;
  Seldom<TablePointer> tables;

  static ClassRow of(const Row &row);
  /// Of a packed row (record.h), which is all that `in` holds. `scratch` is anything, for the next one again.
  static Result<ClassRow> unpacked(ByteReader &in, std::vector<Atom> *scratch);
  /// The row as it is on the member at this place. Fields that have moved are absent; the count is no field of a Row.
  [[nodiscard]] Row at(uint64_t member) const;
  /// About what it takes of memory, without the columns and tables, which others may share.
  [[nodiscard]] size_t bytes() const;
  /// Nothing but atoms that are the same on all members, as nearly all rows of one rank.
  [[nodiscard]] bool is_plain() const { return varied.empty() && texts.empty() && tables.empty(); }
  /// Looks the same: what is equal may be written differently and then counts as different.
  [[nodiscard]] bool same(const ClassRow &other) const;
};

using RowPointer = std::shared_ptr<const ClassRow>;

/// Whether a row of this kind may have these fields: what the kind says has moved must have.
bool fits(const RowKind &kind, std::span<const FieldHead> heads);
/// How many of the row's fields are the call's.
inline size_t call_fields(const ClassRow &row) { return row.heads.size() - fields_added(row.kind); }
/// Whether the streams of this field have a value for each call that a draining row stands for.
inline bool is_by_call(const ClassRow &row, size_t field) {
  const auto *draining = std::get_if<Draining>(&row.kind);
  return draining != nullptr && field >= draining->first_output && field + 1 < row.heads.size();
}

/// Sets differs[f] for each field that does not look the same in both rows, which must have as many.
void mark_differing(const ClassRow &a, const ClassRow &b, std::vector<bool> *differs);
/// A row of that field alone, without function, site and depth.
RowPointer only_field(const ClassRow &row, size_t field);
/// The row after these fields, ascending, have moved.
RowPointer without_fields(const ClassRow &row, const std::vector<uint32_t> &fields);

}  // namespace cairn::trace
