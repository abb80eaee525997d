#include "trace/model/class_row.h"

#include <algorithm>
#include <utility>

#include "trace/model/row_fields.h"

namespace cairn::trace {

ClassRow ClassRow::of(const Row &row) {
  ClassRow result;
  result.function = row.function;
  result.site = row.site;
  result.depth = row.depth;
  size_t atoms = 0;
  for (const Field &field : row.fields) atoms += field.atoms.size();
  result.heads.reserve(row.fields.size());
  result.atoms.reserve(atoms);
  for (const Field &field : row.fields) {
    if (field.is_bytes) {
      result.heads.push_back({FieldHead::text, 1});
      result.texts.push_back(field.bytes);
    } else {
      result.heads.push_back({FieldHead::atoms, static_cast<uint32_t>(field.atoms.size())});
      result.atoms.insert(result.atoms.end(), field.atoms.begin(), field.atoms.end());
    }
  }
  return result;
}

Result<ClassRow> ClassRow::unpacked(ByteReader &in, std::vector<Atom> *scratch) {
  ClassRow row;
  const uint64_t function = in.varint();
  const uint64_t site = in.varint();
  const uint64_t depth = in.varint();
  const size_t fields = in.count();
  row.heads.reserve(fields);
  scratch->clear();
  for (size_t i = 0; i < fields && !in.failed(); ++i) {
    const uint64_t head = in.varint();
    const uint64_t count = head >> 1;
    if (count > std::min<uint64_t>(in.remaining(), FieldHead::kMostAtoms)) in.fail();
    if (in.failed()) break;
    if ((head & 1) != 0) {
      const ByteView bytes = in.raw(count);
      row.heads.push_back({FieldHead::text, 1});
      row.texts.emplace_back(bytes.begin(), bytes.end());
      continue;
    }
    row.heads.push_back({FieldHead::atoms, static_cast<uint32_t>(count)});
    for (uint64_t k = 0; k < count; ++k) scratch->push_back(in.signed_varint());
  }
  if (in.failed() || !in.at_end() || std::max({function, site, depth}) > UINT32_MAX) {
    return fail(ErrorKind::internal, "a recorded row is malformed");
  }
  row.function = static_cast<uint32_t>(function);
  row.site = static_cast<uint32_t>(site);
  row.depth = static_cast<uint32_t>(depth);
  row.atoms = *scratch;
  return row;
}

namespace {

/// Copies the current field of `from` to the end of `to`.
void copy_field(RowFields *from, const FieldHead &head, ClassRow *to) {
  to->heads.push_back(head);
  switch (head.kind) {
    case FieldHead::text:
      to->texts.push_back(from->text());
      return;
    case FieldHead::table:
      to->tables.push_back(from->table());
      return;
    case FieldHead::moved:
      return;
    case FieldHead::atoms:
      break;
  }
  for (uint32_t i = 0; i < head.count; ++i) {
    const auto slot = static_cast<uint32_t>(to->atoms.size());
    to->atoms.push_back(from->atom(i));
    if (ColumnPointer column = from->column(i)) to->varied.push_back({slot, std::move(column)});
  }
}

bool same_column(const ColumnPointer &a, const ColumnPointer &b) {
  return a == b || (a != nullptr && b != nullptr && a->same(*b));
}

bool same_current(RowFields *a, const FieldHead &head, RowFields *b) {
  switch (head.kind) {
    case FieldHead::text:
      return a->text() == b->text();
    case FieldHead::table:
      return a->table() == b->table() ||
             (a->table()->values() == b->table()->values() && a->table()->index().same(b->table()->index()));
    case FieldHead::moved:
      return true;
    case FieldHead::atoms:
      break;
  }
  for (uint32_t i = 0; i < head.count; ++i) {
    if (a->atom(i) != b->atom(i) || !same_column(a->column(i), b->column(i))) return false;
  }
  return true;
}

}  // namespace

bool fits(const RowKind &kind, std::span<const FieldHead> heads) {
  if (!may_have(kind, heads.size())) return false;
  const auto *draining = std::get_if<Draining>(&kind);
  const size_t first = draining != nullptr ? draining->first_output : heads.size() - fields_added(kind);
  return std::all_of(heads.begin() + static_cast<ptrdiff_t>(first), heads.end(),
                     [](const FieldHead &head) { return head.kind == FieldHead::moved; });
}

void mark_differing(const ClassRow &a, const ClassRow &b, std::vector<bool> *differs) {
  if (a.is_plain() && b.is_plain() && a.heads == b.heads) {
    size_t slot = 0;
    for (size_t f = 0; f < a.heads.size(); ++f) {
      const size_t end = slot + a.heads[f].count;
      for (; slot < end && a.atoms[slot] == b.atoms[slot]; ++slot) {
      }
      if (slot != end) (*differs)[f] = true;
      slot = end;
    }
    return;
  }
  RowFields mine(a);
  RowFields theirs(b);
  for (size_t f = 0; f < a.heads.size(); ++f) {
    const FieldHead &head = mine.next();
    if (theirs.next() != head || !same_current(&mine, head, &theirs)) (*differs)[f] = true;
  }
}

size_t ClassRow::bytes() const {
  constexpr size_t kAround = 96;  // the pointers to it, and what lies around its vectors
  size_t bytes = sizeof *this + kAround + heads.size() * sizeof heads[0] + atoms.size() * sizeof atoms[0] +
                 varied.size() * sizeof varied[0] + tables.size() * sizeof tables[0];
  for (const Bytes &text : texts) bytes += 2 * sizeof(Bytes) + text.size();
  return bytes;
}

bool ClassRow::same(const ClassRow &other) const {
  if (this == &other) return true;
  if (function != other.function || site != other.site || depth != other.depth || kind != other.kind ||
      heads != other.heads || atoms != other.atoms || texts != other.texts || varied.size() != other.varied.size()) {
    return false;
  }
  if (varied.empty() && tables.empty()) return true;
  std::vector<bool> differs(heads.size());
  mark_differing(*this, other, &differs);
  return std::find(differs.begin(), differs.end(), true) == differs.end();
}

RowPointer only_field(const ClassRow &row, size_t field) {
  auto result = std::make_shared<ClassRow>();
  RowFields fields(row);
  for (size_t f = 0; f < field; ++f) fields.next();
  const FieldHead &head = fields.next();
  copy_field(&fields, head, result.get());
  return RowPointer(std::move(result));
}

RowPointer without_fields(const ClassRow &row, const std::vector<uint32_t> &gone) {
  auto result = std::make_shared<ClassRow>();
  result->function = row.function;
  result->site = row.site;
  result->depth = row.depth;
  result->kind = row.kind;
  result->heads.reserve(row.heads.size());
  RowFields fields(row);
  size_t next = 0;
  for (size_t f = 0; f < row.heads.size(); ++f) {
    const FieldHead &head = fields.next();
    if (next < gone.size() && gone[next] == f) {
      ++next;
      result->heads.push_back({FieldHead::moved, 0});
    } else {
      copy_field(&fields, head, result.get());
    }
  }
  return RowPointer(std::move(result));
}

Row ClassRow::at(uint64_t member) const {
  Row row;
  row.function = function;
  row.site = site;
  row.depth = depth;
  RowFields fields(*this);
  const size_t count = call_fields(*this);
  for (size_t f = 0; f < count; ++f) {
    const FieldHead &head = fields.next();
    Field field;
    if (head.kind == FieldHead::text) {
      field.is_bytes = true;
      field.bytes = fields.text();
    } else if (head.kind == FieldHead::table) {
      ByteReader in(fields.table()->at(member));
      field = unpack_field(in);
    } else if (head.kind == FieldHead::atoms) {
      const auto begin = atoms.begin() + fields.slot();
      field.atoms.assign(begin, begin + head.count);
    }
    row.fields.push_back(std::move(field));
  }
  // Differing atoms afterwards: few, and they need not be searched for in each field.
  size_t f = 0;
  uint32_t first = 0;
  for (const VariedAtom &varied_atom : varied) {
    while (heads[f].kind != FieldHead::atoms || varied_atom.slot >= first + heads[f].count) {
      first += heads[f].kind == FieldHead::atoms ? heads[f].count : 0;
      ++f;
    }
    row.fields[f].atoms[varied_atom.slot - first] = varied_atom.column->at(member);
  }
  return row;
}

}  // namespace cairn::trace
