// The fields of a class's row, one by one: atoms that are the same on all ranks or a column along them, a text, a table
// of what differs in shape, or nothing here because they have moved into a stream. Borrows the row. Cost: its atoms.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/model/class_row.h"

namespace cairn::proxy {

/// One atom of a field.
struct Slot {
  trace::Atom atom = 0;
  const trace::FoldColumn *column = nullptr;  ///< else
  [[nodiscard]] bool is(trace::Atom value) const { return column == nullptr && atom == value; }
  [[nodiscard]] bool is_special() const { return column == nullptr && trace::is_special(atom); }
  [[nodiscard]] bool is_number() const { return column == nullptr && !trace::is_special(atom); }
  /// Id of a named constant, or -1.
  [[nodiscard]] int constant() const {
    return is_special() && trace::special_code(atom) >= trace::kFirstConstant
               ? trace::special_code(atom) - trace::kFirstConstant
               : -1;
  }
};

struct FieldView {
  enum Kind : uint8_t { atoms, text, table, moved };
  Kind kind = atoms;
  std::vector<Slot> slots;
  const Bytes *bytes = nullptr;                 ///< of a text
  const trace::ValuesColumn *values = nullptr;  ///< of a table: packed fields
  [[nodiscard]] bool absent() const { return kind == atoms && slots.empty(); }
  [[nodiscard]] bool dynamic() const { return kind == table || kind == moved; }
};

std::vector<FieldView> fields_of(const trace::ClassRow &row);

}  // namespace cairn::proxy
