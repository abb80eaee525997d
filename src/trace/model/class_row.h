// ClassRow: one row of a class, for all its members: what is the same everywhere is stored once, what differs is a
// column along the ranks.
//
// The fields lie flat: `heads` says what each field is; the atoms of fields whose shape is the same on all members
// lie in `atoms`, those that differ are named in `varied`; fields of bytes that all share are in `texts`; fields that
// differ in shape, or are bytes that differ, are in `tables` (of packed fields); fields that have moved into a stream
// are nowhere here. Function, site and depth are part of a class's structure and never differ.
//
// A *counted* row (poll_fold.h) has one more field than its call, which has always moved: how often the call was made
// where the row stands in the sequence. With `cycle` above 1, this row and the next cycle - 1, which are counted alike,
// were made in turn, that many times.
//
// A *draining* row (drain_fold.h) stands for calls that take requests out of one array, one after the other: as many as
// its last field says, which has always moved. So have the fields from Draining::first_output on, whose streams have a
// value for each call; one value alone stands for all of them. Of a poll, there is one more such stream, in the field
// before the last: how often it found nothing before each call. The array is as the first call finds it.
//
// Immutable once made and shared between classes, hence the shared pointers. Merging costs what the terms of its
// columns cost; only a field whose shape begins to differ while it has columns is expanded.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "trace/model/record.h"
#include "trace/values/values_column.h"

namespace cairn::trace {

struct FieldHead {
  enum Kind : uint8_t { atoms, text, table, moved };
  Kind kind = atoms;
  uint32_t count = 0;  ///< of atoms; 0 for what has moved, 1 for the others
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
  uint32_t cycle = 0;  ///< 0: an ordinary row, one call; from kDraining on: a draining one
  std::vector<FieldHead> heads;
  std::vector<Atom> atoms;
  std::vector<VariedAtom> varied;  ///< by slot
  std::vector<Bytes> texts;
  std::vector<TablePointer> tables;

  static ClassRow of(const Row &row);
  /// Of a packed row (record.h), which is all that `in` holds. `scratch` is anything, for the next one again.
  static Result<ClassRow> unpacked(ByteReader &in, std::vector<Atom> *scratch);
  /// The row as it is on the member at this place. Fields that have moved are absent; the count is no field of a Row.
  [[nodiscard]] Row at(uint64_t member) const;
  /// Looks the same: what is equal may be written differently and then counts as different.
  [[nodiscard]] bool same(const ClassRow &other) const;
};

using RowPointer = std::shared_ptr<const ClassRow>;

/// What a draining row's `cycle` says.
struct Draining {
  static constexpr uint32_t kMostFields = 255;
  uint32_t first_output = 0;  ///< 1 to kMostFields
  uint32_t answer = 0;        ///< of a poll, the field that says whether it found something; else 0
  [[nodiscard]] bool polls() const { return answer != 0; }
};
constexpr uint32_t kDraining = 1U << 16;
inline uint32_t cycle_of(const Draining &draining) { return kDraining + draining.first_output * 256 + draining.answer; }
inline std::optional<Draining> draining_of(const ClassRow &row) {
  if (row.cycle < kDraining) return std::nullopt;
  return Draining{(row.cycle - kDraining) / 256, row.cycle % 256};
}
/// How many of the row's fields are the call's.
inline size_t call_fields(const ClassRow &row) {
  const auto draining = draining_of(row);
  return row.heads.size() - (row.cycle == 0 ? 0U : draining && draining->polls() ? 2U : 1U);
}
/// Whether the streams of this field have a value for each call that a draining row stands for.
inline bool is_by_call(const ClassRow &row, size_t field) {
  const auto draining = draining_of(row);
  return draining && field >= draining->first_output && field + 1 < row.heads.size();
}

/// Sets differs[f] for each field that does not look the same in both rows, which must have as many.
void mark_differing(const ClassRow &a, const ClassRow &b, std::vector<bool> *differs);
/// A row of that field alone, without function, site and depth.
RowPointer only_field(const ClassRow &row, size_t field);
/// The row after these fields, ascending, have moved.
RowPointer without_fields(const ClassRow &row, const std::vector<uint32_t> &fields);

}  // namespace cairn::trace
