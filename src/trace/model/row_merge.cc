#include "trace/model/row_merge.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <span>
#include <utility>

#include "trace/model/row_fields.h"

namespace cairn::trace {

ColumnPointer RowMerge::merged(const Side &left, const Side &right) {
  uint64_t hash = 0;
  for (const Side &side : {left, right}) {
    hash = (hash ^ reinterpret_cast<uintptr_t>(side.column)) * 0x9E3779B97F4A7C15ULL;
    hash = (hash ^ static_cast<uint64_t>(side.atom)) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 32;
  }
  const uint32_t number = numbers_.number(
      hash * 0x9E3779B97F4A7C15ULL, [&](uint32_t n) { return pairs_[n].left == left && pairs_[n].right == right; });
  if (number < pairs_.size()) return pairs_[number].merged;
  FoldColumn all;
  all.reserve((left.column != nullptr ? left.column->top_terms() : 1) +
              (right.column != nullptr ? right.column->top_terms() : 1) + 2);
  if (left.column != nullptr) {
    all = *left.column;
  } else {
    all.append(left.atom, order_.left_size());
  }
  all = right.column != nullptr ? order_.merged(std::move(all), *right.column)
                                : order_.merged(std::move(all), right.atom);
  pairs_.push_back({left, right, std::make_shared<const FoldColumn>(std::move(all))});
  return pairs_.back().merged;
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

void RowMerge::merge_alike(RowPointer *left, std::span<const Atom> atoms, std::span<const Varied> right, long owners) {
  assert((*left)->atoms.size() == atoms.size() && (*left)->tables.empty());
  constexpr size_t kPairs = 16;
  if (pairs_.empty()) pairs_.reserve(kPairs);
  const ClassRow &old = **left;
  const auto slot_of = [](const auto &varied) { return varied.slot; };
  if (std::ranges::equal(old.atoms, atoms) && std::ranges::equal(old.varied, right, {}, slot_of, slot_of)) {
    if (old.varied.empty()) return;
    if (left->use_count() > owners) *left = std::make_shared<ClassRow>(old);
    const Varied *other = right.data();
    for (VariedAtom &varied : const_cast<ClassRow &>(**left).varied) {
      varied.column = merged({varied.column.get(), 0}, {(other++)->column, 0});
    }
    return;
  }
  varied_.clear();
  auto l = old.varied.begin();
  auto r = right.begin();
  for (uint32_t slot = 0; slot < old.atoms.size(); ++slot) {
    const bool in_left = l != old.varied.end() && l->slot == slot;
    const bool in_right = r != right.end() && r->slot == slot;
    if (!in_left && !in_right && old.atoms[slot] == atoms[slot]) continue;
    const Side left_side = {in_left ? (l++)->column.get() : nullptr, old.atoms[slot]};
    const Side right_side = {in_right ? (r++)->column : nullptr, atoms[slot]};
    varied_.push_back({slot, merged(left_side, right_side)});
  }
  if (left->use_count() > owners) *left = std::make_shared<ClassRow>(old);
  auto &row = const_cast<ClassRow &>(**left);
  for (const VariedAtom &atom : varied_) row.atoms[atom.slot] = 0;
  row.varied.assign(std::make_move_iterator(varied_.begin()), std::make_move_iterator(varied_.end()));
}

Result<RowPointer> RowMerge::operator()(RowPointer left, const RowPointer &right) {
  if (left->heads.size() != right->heads.size() || left->kind != right->kind) {
    return fail(ErrorKind::unreadable, "two parts disagree on how many fields a call has");
  }
  if (left->varied.empty() && right->varied.empty() && left->tables.empty() && right->tables.empty() &&
      (left == right || (left->heads == right->heads && left->atoms == right->atoms && left->texts == right->texts))) {
    return left;
  }
  if (left->tables.empty() && right->tables.empty() && left->heads == right->heads && left->texts == right->texts) {
    right_.clear();
    for (const VariedAtom &varied : right->varied) right_.push_back({varied.slot, varied.column.get()});
    merge_alike(&left, right->atoms, right_);
    return left;
  }
  auto row = std::make_shared<ClassRow>();
  row->function = left->function;
  row->site = left->site;
  row->depth = left->depth;
  row->kind = left->kind;
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
