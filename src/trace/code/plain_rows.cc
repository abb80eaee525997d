#include "trace/code/plain_rows.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/as_size.h"
#include "trace/values/atom_code.h"

namespace cairn::trace {
namespace {

constexpr size_t kShapesTried = 32;  // a shape that is not found stands there again
constexpr size_t kFewShapes = 12;
constexpr size_t kLeastRow = 3;  // bytes

bool same_shape(const ClassRow &a, const ClassRow &b) {
  return a.function == b.function && a.depth == b.depth && a.kind == b.kind && a.heads == b.heads;
}

void write_shape(const ClassRow &row, ByteWriter &out) {
  out.varint(row.function);
  out.varint(row.depth);
  out.varint(number_of(row.kind));
  out.varint(row.heads.size());
  for (const FieldHead &head : row.heads) out.varint(uint64_t{head.count} << 2 | head.kind);
}

}  // namespace

PlainRowsWriter::PlainRowsWriter(size_t rows, ByteWriter *out) : out_(*out) {
  shapes_.reserve(std::min(rows, kFewShapes));
  out_.varint(rows);
}

void PlainRowsWriter::write(const std::vector<RowPointer> &rows) {
  out_.varint(rows.size());
  for (const RowPointer &row : rows) write_row(*row);
}

/// Each a varint that says which of them it is again, or 0 before a new one.
void PlainRowsWriter::write_values(const std::vector<RowPointer> &values) {
  out_.varint(values.size());
  for (const RowPointer &value : values) {
    uint32_t number = 0;
    const bool fresh = values_.add(value.get(), &number);
    out_.varint(fresh ? 0 : number + 1);
    if (fresh) write_row(*value);
  }
}

void PlainRowsWriter::write_row(const ClassRow &row) {
  size_t shape = shapes_.size();
  const size_t tried = shape - std::min(shape, kShapesTried);
  while (shape > tried && !same_shape(*shapes_[shape - 1], row)) --shape;
  if (shape > tried) {
    out_.varint(shape - 1);
  } else {
    out_.varint(shapes_.size());
    write_shape(row, out_);
    shapes_.push_back(&row);
  }
  out_.varint(row.site);
  for (const Atom atom : row.atoms) out_.varint(atom_code(atom));
  out_.varint(row.varied.size());
  uint32_t next = 0;
  for (const VariedAtom &varied : row.varied) {
    uint32_t number = 0;
    const bool fresh = columns_.add(varied.column.get(), &number);
    out_.varint(varied.slot - next);
    out_.varint(number);
    if (fresh) varied.column->write(out_);
    next = varied.slot + 1;
  }
  for (const Bytes &text : row.texts) out_.blob(text);
  for (const TablePointer &table : row.tables) {
    uint32_t number = 0;
    const bool fresh = tables_.add(table.get(), &number);
    out_.varint(number);
    if (fresh) table->write(out_);
  }
}

void PlainRows::begin(ByteReader &in) { row_at_.reserve(in.count()); }

bool PlainRows::read(ByteReader &in, uint64_t members, size_t sites, Range *out) {
  const size_t count = in.count(kLeastRow);
  *out = {static_cast<uint32_t>(row_at_.size()), static_cast<uint32_t>(count)};
  reserve(count, in.remaining());
  for (size_t i = 0; i < count; ++i) {
    row_at_.push_back(static_cast<uint32_t>(size()));
    if (!read_row(in, members, sites)) return false;
  }
  first_value_ = size();
  return !in.failed();
}

/// For what rows of point-to-point calls have, and never more than there are bytes.
void PlainRows::reserve(size_t rows, size_t bytes) {
  const auto room = [bytes](size_t expected) { return std::min(expected, bytes); };
  rows_.reserve(rows + 1);
  shapes_.reserve(std::min(rows, kFewShapes));
  heads_.reserve(room(8 * std::min(rows, kFewShapes)));
  atoms_.reserve(room(12 * rows));
  varied_.reserve(room(2 * rows));
  columns_.reserve(std::min<size_t>(rows, 16));
}

bool PlainRows::read_values(ByteReader &in, uint64_t members, Range *out) {
  const size_t count = in.count();
  *out = {static_cast<uint32_t>(row_at_.size()), static_cast<uint32_t>(count)};
  for (size_t i = 0; i < count; ++i) {
    const uint64_t again = in.varint();
    if (in.failed() || again > size() - first_value_) return false;
    if (again == 0) {
      row_at_.push_back(static_cast<uint32_t>(size()));
      if (!read_row(in, members, 0)) return false;
    } else {
      row_at_.push_back(static_cast<uint32_t>(first_value_ + again - 1));
      if (!is_of(View(*this, row_at_.back()), members)) return false;
    }
  }
  return !in.failed();
}

bool PlainRows::is_of(const View &row, uint64_t members) const {
  return std::ranges::all_of(row.varied(),
                             [&](const VariedPlace &at) { return columns_[at.column].size() == members; }) &&
         std::ranges::all_of(row.tables(), [&](uint32_t table) { return tables_[as_size(table)].size() == members; });
}

bool PlainRows::read_shape(ByteReader &in) {
  Shape shape{};
  const uint64_t function = in.varint();
  const uint64_t depth = in.varint();
  const std::optional<RowKind> kind = kind_of_number(in.varint());
  shape.fields = static_cast<uint32_t>(in.count());
  if (in.failed() || !kind || std::max(function, depth) > UINT32_MAX) return false;
  shape.function = static_cast<uint32_t>(function);
  shape.depth = static_cast<uint32_t>(depth);
  shape.kind = *kind;
  shape.heads = static_cast<uint32_t>(heads_.size());
  for (uint32_t f = 0; f < shape.fields; ++f) {
    const uint64_t word = in.varint();
    if (word >> 2 > FieldHead::kMostAtoms) return false;
    const FieldHead head = {static_cast<FieldHead::Kind>(word & 3), static_cast<uint32_t>(word >> 2)};
    switch (head.kind) {
      case FieldHead::atoms:
        // A row takes a byte for each: no more than are still to come.
        if (word >> 2 > in.remaining() - std::min<size_t>(in.remaining(), shape.atoms)) return false;
        shape.atoms += head.count;
        break;
      case FieldHead::text:
        if (word >> 2 != 1) return false;
        ++shape.texts;
        break;
      case FieldHead::table:
        if (word >> 2 != 1) return false;
        ++shape.tables;
        break;
      case FieldHead::moved:
        if (word >> 2 != 0) return false;
        break;
    }
    heads_.push_back(head);
  }
  if (!fits(shape.kind, {heads_.data() + shape.heads, shape.fields})) return false;
  shapes_.push_back(shape);
  return true;
}

bool PlainRows::read_row(ByteReader &in, uint64_t members, size_t sites) {
  const uint64_t number = in.varint();
  if (in.failed() || number > shapes_.size()) return false;
  if (number == shapes_.size() && !read_shape(in)) return false;
  const Shape &shape = shapes_[as_size(number)];
  const uint64_t site = in.varint();
  if (site > sites || shape.atoms > in.remaining()) return false;
  rows_.back().shape = static_cast<uint32_t>(number);
  rows_.back().site = static_cast<uint32_t>(site);
  for (uint32_t i = 0; i < shape.atoms; ++i) atoms_.push_back(atom_of_code(in.varint()));
  if (!read_varied(in, members, shape.atoms)) return false;
  for (uint32_t i = 0; i < shape.texts; ++i) texts_.push_back(in.blob());
  for (uint32_t i = 0; i < shape.tables; ++i) {
    const uint64_t table = in.varint();
    if (in.failed() || table > tables_.size()) return false;
    if (table == tables_.size()) tables_.push_back(ValuesColumn::parse(in));
    if (in.failed() || tables_[as_size(table)].size() != members) return false;
    named_tables_.push_back(static_cast<uint32_t>(table));
  }
  rows_.push_back(end());
  return !in.failed();
}

bool PlainRows::read_varied(ByteReader &in, uint64_t members, uint32_t atoms) {
  const size_t count = in.count(2);
  uint64_t next = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t slot = next + in.varint();
    const uint64_t column = in.varint();
    if (in.failed() || slot < next || slot >= atoms || column > columns_.size()) return false;
    if (column == columns_.size()) columns_.push_back(FoldColumn::parse(in, FoldColumn::Domain::atoms));
    if (in.failed() || columns_[as_size(column)].size() != members) return false;
    varied_.push_back({static_cast<uint32_t>(slot), static_cast<uint32_t>(column)});
    next = slot + 1;
  }
  return true;
}

PlainRows::Start PlainRows::end() const {
  return {0,
          0,
          static_cast<uint32_t>(atoms_.size()),
          static_cast<uint32_t>(varied_.size()),
          static_cast<uint32_t>(texts_.size()),
          static_cast<uint32_t>(named_tables_.size())};
}

bool PlainRows::View::is_alike(const ClassRow &row) const {
  const Shape &own = shape();
  return row.function == own.function && row.depth == own.depth && row.kind == own.kind && row.site == site() &&
         own.tables == 0 && std::ranges::equal(row.heads, heads()) &&
         std::ranges::equal(row.texts, texts(), [](ByteView a, ByteView b) { return std::ranges::equal(a, b); });
}

std::vector<RowPointer> PlainRows::made() {
  std::vector<ColumnPointer> columns;
  columns.reserve(columns_.size());
  for (FoldColumn &column : columns_) columns.push_back(std::make_shared<const FoldColumn>(std::move(column)));
  std::vector<TablePointer> tables;
  tables.reserve(tables_.size());
  for (ValuesColumn &table : tables_) tables.push_back(std::make_shared<const ValuesColumn>(std::move(table)));
  std::vector<RowPointer> rows;
  rows.reserve(size());
  for (size_t i = 0; i < size(); ++i) {
    const View view(*this, i);
    auto row = std::make_shared<ClassRow>();
    row->function = view.shape().function;
    row->site = view.site();
    row->depth = view.shape().depth;
    row->kind = view.shape().kind;
    row->heads.assign(view.heads().begin(), view.heads().end());
    row->atoms.assign(view.atoms().begin(), view.atoms().end());
    row->varied.reserve(view.varied().size());
    for (const VariedPlace &place : view.varied()) row->varied.push_back({place.slot, columns[place.column]});
    for (const ByteView text : view.texts()) row->texts.emplace_back(text.begin(), text.end());
    for (const uint32_t table : view.tables()) row->tables.push_back(tables[table]);
    rows.push_back(std::move(row));
  }
  std::vector<RowPointer> standing;
  standing.reserve(row_at_.size());
  for (const uint32_t row : row_at_) standing.push_back(rows[row]);
  return standing;
}

}  // namespace cairn::trace
