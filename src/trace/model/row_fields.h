// RowFields: goes through a row's fields in order, with the atoms, columns, text or table of each. For who takes rows
// apart or puts them together: class_row.cc and row_merge.cc. The row must outlive it.
#pragma once

#include <utility>
#include <vector>

#include "base/as_size.h"
#include "trace/model/class_row.h"

namespace cairn::trace {

class RowFields {
 public:
  explicit RowFields(const ClassRow &row) : row_(row) {}

  /// Moves to the next field.
  const FieldHead &next() {
    if (current_ != nullptr) {
      slot_ += current_->kind == FieldHead::atoms ? current_->count : 0;
      text_ += current_->kind == FieldHead::text ? 1 : 0;
      table_ += current_->kind == FieldHead::table ? 1 : 0;
      while (varied_ < row_.varied.size() && row_.varied[varied_].slot < slot_) ++varied_;
    }
    current_ = &row_.heads[field_++];
    return *current_;
  }
  [[nodiscard]] const Bytes &text() const { return row_.texts[text_]; }
  [[nodiscard]] const TablePointer &table() const { return row_.tables[table_]; }
  [[nodiscard]] uint32_t slot() const { return slot_; }
  /// The column of the field's i-th atom, or nullptr. Ask in ascending order.
  ColumnPointer column(uint32_t i) {
    while (varied_ < row_.varied.size() && row_.varied[varied_].slot < slot_ + i) ++varied_;
    const bool here = varied_ < row_.varied.size() && row_.varied[varied_].slot == slot_ + i;
    return here ? row_.varied[varied_].column : nullptr;
  }
  [[nodiscard]] Atom atom(uint32_t i) const { return row_.atoms[slot_ + i]; }

  /// The current field as a table along `members` ranks.
  ValuesColumn as_table(uint64_t members) {
    if (current_->kind == FieldHead::table) return *table();
    if (current_->kind == FieldHead::text) return ValuesColumn::constant(packed_text(text()), members);
    Field field;
    std::vector<std::pair<uint32_t, FoldColumn::Cursor>> cursors;
    std::vector<ColumnPointer> kept;
    for (uint32_t i = 0; i < current_->count; ++i) {
      field.atoms.push_back(atom(i));
      if (ColumnPointer found = column(i)) {
        kept.push_back(found);
        cursors.emplace_back(i, FoldColumn::Cursor(*kept.back()));
      }
    }
    if (cursors.empty()) return ValuesColumn::constant(packed(field), members);
    std::vector<Bytes> values;
    values.reserve(as_size(members));
    for (uint64_t member = 0; member < members; ++member) {
      for (auto &[i, cursor] : cursors) field.atoms[i] = cursor.next();
      values.push_back(packed(field));
    }
    return ValuesColumn::of_each(values);
  }

 private:
  static Bytes packed(const Field &field) {
    ByteWriter out;
    pack_field(field, out);
    return out.take();
  }
  static Bytes packed_text(const Bytes &text) {
    Field field;
    field.is_bytes = true;
    field.bytes = text;
    return packed(field);
  }

  const ClassRow &row_;
  const FieldHead *current_ = nullptr;
  size_t field_ = 0;
  uint32_t slot_ = 0;
  size_t varied_ = 0;
  size_t text_ = 0;
  size_t table_ = 0;
};

}  // namespace cairn::trace
