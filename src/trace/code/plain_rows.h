// PlainRows: all rows of a class, its streams' values among them, as they travel to a rank that will merge them next:
// read into a few flat arrays, so that a row which meets its like is merged from there, and none is allocated. What a
// class looks like in a file takes fewer bytes (a stencil's 520 instead of 610), and four times as long to make.
//
// In bytes: the number of all rows; then, of as many rows as belong together (the class's own, a stream's values),
// their number; of each row its shape's number (the next one: a new shape follows), site, atoms, columns and texts.
// What several have (a column, a table, a stream's value: who is sent to is received from, too) stands where it is
// named first. This is no format: both sides are the same program.
//
// Trusts nothing: `read` answers false, and memory stays in proportion to the bytes. Plain value; one thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "trace/model/class_row.h"
#include "trace/values/numbering.h"

namespace cairn::trace {

class PlainRows {
 public:
  struct VariedPlace {
    uint32_t slot;
    uint32_t column;  ///< number in the columns
  };
  struct Shape {
    uint32_t function;
    uint32_t depth;
    RowKind kind;
    uint32_t heads;  ///< where they begin
    uint32_t fields;
    uint32_t atoms;
    uint32_t texts;
    uint32_t tables;
  };
  /// Where a row's things begin; they end where the next one's do.
  struct Start {
    uint32_t shape = 0;
    uint32_t site = 0;
    uint32_t atoms = 0;
    uint32_t varied = 0;
    uint32_t texts = 0;
    uint32_t tables = 0;
  };
  /// A row where it lies.
  class View {
   public:
    View(const PlainRows &rows, size_t i) : rows_(rows), row_(rows.rows_[i]), next_(rows.rows_[i + 1]) {}
    [[nodiscard]] const Shape &shape() const { return rows_.shapes_[row_.shape]; }
    [[nodiscard]] uint32_t site() const { return row_.site; }
    [[nodiscard]] std::span<const FieldHead> heads() const {
      return {rows_.heads_.data() + shape().heads, shape().fields};
    }
    [[nodiscard]] std::span<const Atom> atoms() const { return {rows_.atoms_.data() + row_.atoms, shape().atoms}; }
    [[nodiscard]] std::span<const VariedPlace> varied() const {
      return {rows_.varied_.data() + row_.varied, next_.varied - row_.varied};
    }
    [[nodiscard]] std::span<const ByteView> texts() const { return {rows_.texts_.data() + row_.texts, shape().texts}; }
    [[nodiscard]] const FoldColumn *column(const VariedPlace &place) const { return &rows_.columns_[place.column]; }
    [[nodiscard]] std::span<const uint32_t> tables() const {
      return {rows_.named_tables_.data() + row_.tables, shape().tables};
    }
    /// Whether the row has the same call, at the same site, fields of the same shapes, none of which is a table, and
    /// the same texts.
    [[nodiscard]] bool is_alike(const ClassRow &row) const;

   private:
    const PlainRows &rows_;
    const Start &row_;
    const Start &next_;
  };

  /// Rows that belong together: places, at which rows stand.
  struct Range {
    uint32_t first = 0;
    uint32_t count = 0;
  };

  /// To be called first. Texts stay where they are: the bytes must outlive this.
  void begin(ByteReader &in);
  /// The class's, of `members` ranks, with so many sites.
  bool read(ByteReader &in, uint64_t members, size_t sites, Range *out);
  /// A stream's values, after the rows.
  bool read_values(ByteReader &in, uint64_t members, Range *out);
  [[nodiscard]] size_t places() const { return row_at_.size(); }
  /// Which row stands at a place.
  [[nodiscard]] uint32_t row_at(size_t place) const { return row_at_[place]; }
  [[nodiscard]] View at(size_t place) const { return {*this, row_at_[place]}; }
  /// What stands at all places, as rows of their own. What they name leaves this.
  [[nodiscard]] std::vector<RowPointer> made();

 private:
  /// Rows that there are.
  [[nodiscard]] size_t size() const { return rows_.size() - 1; }
  void reserve(size_t rows, size_t bytes);
  bool read_shape(ByteReader &in);
  bool read_row(ByteReader &in, uint64_t members, size_t sites);
  [[nodiscard]] bool is_of(const View &row, uint64_t members) const;
  bool read_varied(ByteReader &in, uint64_t members, uint32_t atoms);
  [[nodiscard]] Start end() const;

  std::vector<Shape> shapes_;
  std::vector<FieldHead> heads_;
  std::vector<Start> rows_{Start()};  ///< and where the next one would begin
  std::vector<uint32_t> row_at_;
  size_t first_value_ = 0;  ///< which row it is
  std::vector<Atom> atoms_;
  std::vector<VariedPlace> varied_;
  std::vector<ByteView> texts_;
  std::vector<uint32_t> named_tables_;
  std::vector<FoldColumn> columns_;
  std::vector<ValuesColumn> tables_;
};

/// Writes what PlainRows reads. The rows must outlive this.
class PlainRowsWriter {
 public:
  /// Of so many rows.
  PlainRowsWriter(size_t rows, ByteWriter *out);
  void write(const std::vector<RowPointer> &rows);
  /// Of a stream.
  void write_values(const std::vector<RowPointer> &values);

 private:
  void write_row(const ClassRow &row);

  ByteWriter &out_;
  std::vector<const ClassRow *> shapes_;  ///< a row of each
  PointerNumbering columns_;
  PointerNumbering tables_;
  PointerNumbering values_;
};

}  // namespace cairn::trace
