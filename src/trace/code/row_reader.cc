// Rows out of bytes: RowReader of row_code.h.
#include <bit>

#include "base/as_size.h"
#include "trace/code/row_code.h"
#include "trace/code/site_atoms.h"
#include "trace/values/atom_code.h"
#include "trace/values/bounds.h"

namespace cairn::trace {
namespace {

bool bit(ByteView mask, uint64_t i) { return !mask.empty() && (mask[as_size(i / 8)] >> (i % 8) & 1) != 0; }

}  // namespace

bool RowReader::bad(std::string what) {
  what_ = std::move(what);
  return false;
}

bool RowReader::read_shapes(ByteReader &in) {
  const size_t shapes = in.count(3);
  if (!in.take(shapes, sizeof(Shape))) return false;
  shapes_.resize(shapes);
  for (Shape &shape : shapes_) {
    if (!read_shape(in, &shape)) return false;
  }
  return !in.failed();
}

bool RowReader::read_shape(ByteReader &in, Shape *shape) {
  const uint64_t function = in.varint();
  const uint64_t depth = in.varint();
  if (function > UINT32_MAX || depth > UINT32_MAX) return bad("has a function that cannot be");
  shape->function = static_cast<uint32_t>(function);
  shape->depth = static_cast<uint32_t>(depth);
  const size_t fields = in.count();
  if (!in.take(fields, sizeof(FieldShape) + 2 * sizeof(FieldHead))) return false;
  shape->fields.resize(fields);
  std::vector<FieldHead> heads;
  for (FieldShape &field : shape->fields) {
    if (!is_call(shape->kind)) return bad("has a malformed count");
    if (!field.parse(in)) return bad("has a malformed shape");
    in.take(field.columns.size() + field.moving.size());
    shape->kind = field.kind;
    shape->codes += field.codes();
    for (const uint8_t byte : field.columns) shape->columns += static_cast<unsigned>(std::popcount(byte));
    heads.push_back(field.head());
  }
  const auto is_atom = [](const FieldShape &field) { return field.form == FieldShape::atoms && field.count == 1; };
  shape->is_atom = fields == 1 && is_atom(shape->fields[0]) && is_call(shape->kind) && function == 0 && depth == 0;
  return fits(shape->kind, heads) || bad("has a malformed drain");
}

bool RowReader::read_codes(ByteReader &in, uint32_t site, Shape *shape, std::vector<uint64_t> *codes) {
  if (const std::vector<uint64_t> *base = shape->last.find(site); base != nullptr) {
    *codes = *base;
    const ByteView mask = in.raw((shape->codes + 7) / 8);
    if (in.failed()) return bad("has a row that is cut short");
    for (uint64_t i = 0; i < shape->codes; ++i) {
      if (bit(mask, i)) (*codes)[as_size(i)] = in.varint();
    }
  } else {
    if (shape->codes > in.remaining()) return bad("has a row that is cut short");
    // One for the shape, and one for each of its sites.
    if (!in.take(sizeof(LastCodes) + 64) || !in.take(shape->codes, sizeof(uint64_t))) return false;
    codes->assign(as_size(shape->codes), 0);
    for (uint64_t &code : *codes) code = in.varint();
  }
  const size_t kept = shape->last.sites();
  shape->last.put(site, *codes);
  if (shape->last.sites() != kept) in.take(64 + codes->size() * sizeof(uint64_t));
  return !in.failed();
}

RowPointer RowReader::read(ByteReader &in, const std::vector<uint32_t> &sites) {
  const uint64_t shape_number = in.varint();
  const uint64_t site = in.varint();
  if (in.failed()) return nullptr;
  if (shape_number >= shapes_.size()) return bad("has a row of a shape that does not exist"), nullptr;
  if (site > sites.size()) return bad("has a row with a site that its class lacks"), nullptr;
  Shape &shape = shapes_[as_size(shape_number)];
  const uint32_t base = site_in_trace(static_cast<uint32_t>(site), sites);
  if (!read_codes(in, base, &shape, &codes_)) return nullptr;
  return made(shape, static_cast<uint32_t>(site), &in);
}

RowPointer RowReader::read_value(ByteReader &in) {
  if (following_ == 0) {
    ByteReader ahead = in;
    const uint64_t shape_number = ahead.varint();
    const uint64_t count = ahead.varint();
    if (count == 0 || ahead.failed()) return read(in, {});
    in = ahead;
    const bool can_follow = shape_number < shapes_.size() && shapes_[as_size(shape_number)].codes != 0 &&
                            shapes_[as_size(shape_number)].last.find(0) != nullptr;
    if (!can_follow) return bad("has values that follow nothing"), nullptr;
    following_ = count;
    following_shape_ = shape_number;
  }
  --following_;
  Shape &shape = shapes_[as_size(following_shape_)];
  codes_ = *shape.last.find(0);
  ++codes_.back();
  shape.last.put(0, codes_);
  return made(shape, 0, &in);
}

RowPointer RowReader::value(Atom atom, ByteReader *in) {
  constexpr uint64_t kValue = sizeof(ClassRow) + 96 + 64;  // see ClassRow::bytes; two vectors of one
  constexpr uint64_t kKnown = 64;
  RowPointer &known = values_[atom];
  if (known != nullptr) return known;
  if (!in->take(kValue + kKnown)) return nullptr;
  auto row = std::make_shared<ClassRow>();
  row->heads.push_back({FieldHead::atoms, 1});
  row->atoms.push_back(atom);
  return known = std::move(row);
}

RowPointer RowReader::made(const Shape &shape, uint32_t site, ByteReader *in) {
  if (shape.is_atom && site == 0) {
    moving_.clear();
    return value(atom_of_code(codes_[0]), in);
  }
  const size_t position = in->position();
  constexpr uint64_t kRow = sizeof(ClassRow) + 96;  // see ClassRow::bytes
  if (!in->take(kRow + shape.fields.size() * sizeof(FieldHead) + shape.codes * sizeof(Atom) +
                shape.columns * sizeof(VariedAtom))) {
    return nullptr;
  }
  auto row = std::make_shared<ClassRow>();
  row->function = shape.function;
  row->depth = shape.depth;
  row->kind = shape.kind;
  row->site = site;
  const uint64_t *code = codes_.data();
  moving_.clear();
  row->heads.reserve(shape.fields.size());
  row->atoms.reserve(as_size(shape.codes));
  row->varied.reserve(as_size(shape.columns));
  for (const FieldShape &field : shape.fields) {
    row->heads.push_back(field.head());
    if (field.form == FieldShape::text) {
      if (*code >= pool_.values.size()) return bad("has a row that refers to a value that does not exist"), nullptr;
      if (!in->take(2 * sizeof(Bytes) + pool_.values[as_size(*code)].size())) return nullptr;
      row->texts.push_back(pool_.values[as_size(*code++)]);
      text_bytes_ += row->texts.back().size();
      // One large text in many rows would multiply.
      if (text_bytes_ > most_after(position)) {
        return bad("has too large texts"), nullptr;
      }
      continue;
    }
    if (field.form == FieldShape::table) {
      if (*code >= pool_.tables.size()) return bad("has a row that refers to a table that does not exist"), nullptr;
      row->tables.push_back(pool_.tables[as_size(*code++)]);
      continue;
    }
    if (field.form == FieldShape::array) {
      if (*code >= pool_.columns.size()) return bad("has a row that refers to a column that does not exist"), nullptr;
      const FoldColumn &column = *pool_.columns[as_size(*code++)];
      // A column of a few bytes can hold millions of values, and many rows can name it.
      if (!arrays_.add(column.size(), position)) return bad("has too large arrays"), nullptr;
      if (!in->take(column.size(), 3 * sizeof(Atom))) return nullptr;  // expanded, and in a vector that grows
      const std::vector<Atom> atoms = column.expand();
      row->heads.back() = {FieldHead::atoms, static_cast<uint32_t>(atoms.size())};  // kMaxRanks at most
      row->atoms.insert(row->atoms.end(), atoms.begin(), atoms.end());
      continue;
    }
    if (field.form == FieldShape::successive) {
      const uint64_t first = *code++;
      if (first > pool_.columns.size() || field.count > pool_.columns.size() - first) {
        return bad("has a row that refers to a column that does not exist"), nullptr;
      }
      if (!arrays_.add(field.count, position)) return bad("has too large arrays"), nullptr;
      if (!in->take(field.count, 2 * (sizeof(Atom) + sizeof(VariedAtom)))) return nullptr;
      for (uint32_t i = 0; i < field.count; ++i) {
        row->varied.push_back({static_cast<uint32_t>(row->atoms.size()), pool_.columns[as_size(first + i)]});
        row->atoms.push_back(0);
      }
      continue;
    }
    for (uint32_t i = 0; i < field.count; ++i, ++code) {
      if (bit(field.moving, i) && !bit(field.columns, i)) {
        moving_.push_back(static_cast<uint32_t>(row->atoms.size()));
        row->atoms.push_back(SiteAtoms::moved(atom_of_code(*code), row->site));
        continue;
      }
      if (!bit(field.columns, i)) {
        row->atoms.push_back(atom_of_code(*code));
        continue;
      }
      if (*code >= pool_.columns.size()) return bad("has a row that refers to a column that does not exist"), nullptr;
      row->varied.push_back({static_cast<uint32_t>(row->atoms.size()), pool_.columns[as_size(*code)]});
      row->atoms.push_back(0);
    }
  }
  return row;
}

}  // namespace cairn::trace
