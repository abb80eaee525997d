#include "trace/read/fields_along.h"

#include <algorithm>
#include <unordered_map>

#include "base/as_size.h"
#include "trace/model/row_fields.h"

namespace cairn::trace {
namespace {

struct PairHash {
  size_t operator()(const std::pair<uint32_t, Atom> &pair) const {
    const uint64_t mixed = static_cast<uint64_t>(pair.second) + uint64_t{pair.first} * 0x9e3779b9U;
    return static_cast<size_t>(mixed * 0x9e3779b97f4a7c15U >> 33);
  }
};

}  // namespace

FieldsAlong::FieldsAlong(const ClassRow &row, const AskedFields &asked) {
  RowFields fields(row);
  for (size_t f = 0; f < row.heads.size(); ++f) {
    const FieldHead &head = fields.next();
    if (f >= asked.size() || asked[f] == Asked::no || head.kind == FieldHead::moved) continue;
    One &one = fields_.emplace_back();
    one.field = f;
    if (head.kind == FieldHead::text) {
      one.fixed.is_bytes = true;
      one.fixed.bytes = fields.text();
    } else if (head.kind == FieldHead::table) {
      one.table = fields.table();
    } else if (asked[f] == Asked::constant && head.count != 0) {
      one.fixed.atoms.push_back(constant_of(fields.atom(0)));
      if (const ColumnPointer column = fields.column(0)) {
        std::vector<Atom> values = column->expand();
        std::transform(values.begin(), values.end(), values.begin(), constant_of);
        if (std::any_of(values.begin(), values.end(), [](Atom value) { return value != 0; })) {
          one.varied.emplace_back(0, std::move(values));
        }
      }
    } else {
      for (uint32_t i = 0; i < head.count; ++i) {
        one.fixed.atoms.push_back(fields.atom(i));
        if (const ColumnPointer column = fields.column(i)) one.varied.emplace_back(i, column->expand());
      }
    }
    varies_ = varies_ || one.table != nullptr || !one.varied.empty();
  }
}

std::optional<uint64_t> FieldsAlong::number(uint64_t member) const {
  if (fields_.size() != 1 || fields_[0].table != nullptr || fields_[0].fixed.atoms.size() != 1) return std::nullopt;
  const One &one = fields_[0];
  return number_of(one.varied.empty() ? one.fixed.atoms[0] : one.varied[0].second[as_size(member)]);
}

bool FieldsAlong::tell_apart(const std::vector<uint64_t> &members, std::vector<uint32_t> *numbers) const {
  for (const One &one : fields_) {
    if (one.table != nullptr) return false;
    for (const auto &varied : one.varied) {
      std::unordered_map<std::pair<uint32_t, Atom>, uint32_t, PairHash> met;
      for (size_t i = 0; i < members.size(); ++i) {
        const std::pair<uint32_t, Atom> key{(*numbers)[i], varied.second[as_size(members[i])]};
        (*numbers)[i] = met.try_emplace(key, static_cast<uint32_t>(met.size())).first->second;
      }
    }
  }
  return true;
}

void FieldsAlong::fill(uint64_t member, bool first, Row *row) const {
  for (const One &one : fields_) {
    Field &field = row->fields[one.field];
    if (one.table != nullptr) {
      ByteReader in(one.table->at(member));
      field = unpack_field(in);
      continue;
    }
    if (first) field = one.fixed;
    for (const auto &[atom, values] : one.varied) field.atoms[atom] = values[as_size(member)];
  }
}

}  // namespace cairn::trace
