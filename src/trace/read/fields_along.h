// FieldsAlong: the fields of one row that are asked for (partial_rows.h) along all its members, as columns side by
// side; also of one value of a stream, whose only field is the first.
//
// Borrows nothing. Memory: an atom for each member and each atom that differs along them. Plain value; const after
// construction.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "trace/model/class_row.h"
#include "trace/read/partial_rows.h"

namespace cairn::trace {

/// What is left of a field's first atom where only constants are asked for.
inline Atom constant_of(Atom first) { return is_special(first) ? first : 0; }
inline std::optional<uint64_t> number_of(Atom atom) {
  return atom < 0 || is_special(atom) ? std::nullopt : std::optional(static_cast<uint64_t>(atom));
}

class FieldsAlong {
 public:
  FieldsAlong(const ClassRow &row, const AskedFields &asked);
  [[nodiscard]] bool varies() const { return varies_; }
  /// What the only field is on a member, if it is one number, and not below 0.
  [[nodiscard]] std::optional<uint64_t> number(uint64_t member) const;
  /// Gives each of these members a number, so that only those have the same one that had it and have equal fields.
  /// False: they have fields that cannot be told so.
  bool tell_apart(const std::vector<uint64_t> &members, std::vector<uint32_t> *numbers) const;
  /// What does not vary is there already where `first` is false.
  void fill(uint64_t member, bool first, Row *row) const;

 private:
  struct One {
    size_t field = 0;
    Field fixed;
    TablePointer table;
    std::vector<std::pair<uint32_t, std::vector<Atom>>> varied;  ///< by which of the field's atoms
  };
  std::vector<One> fields_;
  bool varies_ = false;
};

}  // namespace cairn::trace
