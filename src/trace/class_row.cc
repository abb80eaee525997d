#include "trace/class_row.h"

#include <algorithm>
#include <utility>

namespace cairn::trace {
namespace {

Bytes packed(const Field &field) {
  ByteWriter out;
  pack_field(field, out);
  return out.take();
}

Bytes packed_text(const Bytes &text) {
  Field field;
  field.is_bytes = true;
  field.bytes = text;
  return packed(field);
}

}  // namespace

/// Goes through a row's fields in order.
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
    values.reserve(members);
    for (uint64_t member = 0; member < members; ++member) {
      for (auto &[i, cursor] : cursors) field.atoms[i] = cursor.next();
      values.push_back(packed(field));
    }
    return ValuesColumn::of_each(values);
  }

 private:
  const ClassRow &row_;
  const FieldHead *current_ = nullptr;
  size_t field_ = 0;
  uint32_t slot_ = 0;
  size_t varied_ = 0;
  size_t text_ = 0;
  size_t table_ = 0;
};

ColumnPointer RowMerge::merged(const Side &left, const Side &right) {
  ColumnPointer &column = known_[{left, right}];
  if (column == nullptr) {
    FoldColumn all = left.column != nullptr ? *left.column : FoldColumn::constant(left.atom, order_.left_size());
    column = std::make_shared<const FoldColumn>(
        right.column != nullptr ? order_.merged(std::move(all), *right.column)
                                : order_.merged(std::move(all), FoldColumn::constant(right.atom, order_.right_size())));
  }
  return column;
}

void RowMerge::merge_atoms(RowFields *left, RowFields *right, uint32_t count, ClassRow *out) {
  for (uint32_t i = 0; i < count; ++i) {
    const Side l = {left->column(i).get(), left->atom(i)};
    const Side r = {right->column(i).get(), right->atom(i)};
    const auto slot = static_cast<uint32_t>(out->atoms.size());
    if (l.column == nullptr && r.column == nullptr && l.atom == r.atom) {
      out->atoms.push_back(l.atom);
      continue;
    }
    out->atoms.push_back(0);
    out->varied.push_back({slot, merged(l, r)});
  }
}

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
    if (count > in.remaining()) in.fail();
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

void mark_differing(const ClassRow &a, const ClassRow &b, std::vector<bool> *differs) {
  RowFields mine(a);
  RowFields theirs(b);
  for (size_t f = 0; f < a.heads.size(); ++f) {
    const FieldHead &head = mine.next();
    if (theirs.next() != head || !same_current(&mine, head, &theirs)) (*differs)[f] = true;
  }
}

bool ClassRow::same(const ClassRow &other) const {
  if (this == &other) return true;
  if (function != other.function || site != other.site || depth != other.depth || cycle != other.cycle ||
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
  result->cycle = row.cycle;
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

/// Fields have the same shapes on both sides, and texts are equal.
RowPointer RowMerge::merge_alike(const RowPointer &left, const ClassRow &right) {
  std::vector<VariedAtom> varied;
  varied.reserve(std::max(left->varied.size(), right.varied.size()));
  auto l = left->varied.begin();
  auto r = right.varied.begin();
  for (uint32_t slot = 0; slot < left->atoms.size(); ++slot) {
    const bool in_left = l != left->varied.end() && l->slot == slot;
    const bool in_right = r != right.varied.end() && r->slot == slot;
    if (!in_left && !in_right && left->atoms[slot] == right.atoms[slot]) continue;
    const Side left_side = {in_left ? (l++)->column.get() : nullptr, left->atoms[slot]};
    const Side right_side = {in_right ? (r++)->column.get() : nullptr, right.atoms[slot]};
    varied.push_back({slot, merged(left_side, right_side)});
  }
  const auto row = left.use_count() == 1 ? std::const_pointer_cast<ClassRow>(left) : std::make_shared<ClassRow>(*left);
  for (const VariedAtom &atom : varied) row->atoms[atom.slot] = 0;
  kept_.push_back(std::exchange(row->varied, std::move(varied)));
  return row;
}

Result<RowPointer> RowMerge::operator()(RowPointer left, const RowPointer &right) {
  if (left->heads.size() != right->heads.size() || left->cycle != right->cycle) {
    return fail(ErrorKind::unreadable, "two parts disagree on how many fields a call has");
  }
  if (left->varied.empty() && right->varied.empty() && left->tables.empty() && right->tables.empty() &&
      (left == right || (left->heads == right->heads && left->atoms == right->atoms && left->texts == right->texts))) {
    return left;
  }
  if (left->tables.empty() && right->tables.empty() && left->heads == right->heads && left->texts == right->texts) {
    return merge_alike(left, *right);
  }
  auto row = std::make_shared<ClassRow>();
  row->function = left->function;
  row->site = left->site;
  row->depth = left->depth;
  row->cycle = left->cycle;
  RowFields lefts(*left);
  RowFields rights(*right);
  for (size_t f = 0; f < left->heads.size(); ++f) {
    const FieldHead &l = lefts.next();
    const FieldHead &r = rights.next();
    if (l.kind == FieldHead::atoms && l == r) {
      row->heads.push_back(l);
      merge_atoms(&lefts, &rights, l.count, row.get());
    } else if (l.kind == FieldHead::moved || r.kind == FieldHead::moved) {
      if (l != r) return fail(ErrorKind::unreadable, "two parts disagree on what has moved out of a row");
      row->heads.push_back(l);
    } else if (l.kind == FieldHead::text && l == r && lefts.text() == rights.text()) {
      row->heads.push_back(l);
      row->texts.push_back(lefts.text());
    } else {
      row->heads.push_back({FieldHead::table, 1});
      row->tables.push_back(std::make_shared<const ValuesColumn>(
          ValuesColumn::merged(lefts.as_table(order_.left_size()), rights.as_table(order_.right_size()), order_)));
    }
  }
  return RowPointer(std::move(row));
}

}  // namespace cairn::trace
