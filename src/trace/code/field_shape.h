// FieldShape: what a field of a row looks like in a file, which of its codes are columns among that (docs/format.md,
// "rows"): rows of one shape differ in their codes alone. Written by RowWriter, read by RowReader. Plain value.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "trace/model/class_row.h"

namespace cairn::trace {

struct FieldShape {
  /// How the field is told: the low three bits of its number in a shape. The rest is `count`.
  enum Form : uint8_t {
    atoms,       ///< so many, the same on all ranks
    varied,      ///< so many; those whose bit is set in `columns` are columns along the ranks
    beside,      ///< as `varied`; those whose bit is set in `moving` are told as distances from the row's site
    successive,  ///< so many, all in columns that follow each other: one code, the first
    array,       ///< the values of one column, along the field
    text,        ///< bytes that are the same on all ranks
    table,       ///< shape or bytes differ between ranks
    moved,       ///< a stream; of the last field `kind` is told in the count's place
  };
  Form form = atoms;
  uint32_t count = 0;
  Bytes columns;
  Bytes moving;
  RowKind kind;  ///< of the row whose last field this is

  /// How many codes a row has for it.
  [[nodiscard]] uint64_t codes() const;
  /// What the row has there; an array's count is its column's.
  [[nodiscard]] FieldHead head() const;
  void write(ByteWriter &out) const;
  /// False: malformed, or `in` failed. Takes memory in proportion to the bytes.
  bool parse(ByteReader &in);
};

/// The form of the last field of a row that is no single call.
FieldShape shape_of(const RowKind &kind);

}  // namespace cairn::trace
