#include "trace/fold/stream_bytes.h"

#include <algorithm>
#include <bit>

#include "trace/values/atom_code.h"

namespace cairn::trace {
namespace {

size_t varint_bytes(uint64_t value) { return value == 0 ? 1 : (static_cast<size_t>(std::bit_width(value)) + 6) / 7; }

bool is_one_atom(const ClassRow &row) { return row.heads[0] == FieldHead{FieldHead::atoms, 1}; }

}  // namespace

bool RowBytes::Less::operator()(const std::vector<FieldHead> &a, const std::vector<FieldHead> &b) const {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](FieldHead x, FieldHead y) {
    return x.kind != y.kind ? x.kind < y.kind : x.count < y.count;
  });
}

size_t RowBytes::add(const ClassRow &row) {
  if (latest_ == last_.end() || latest_->first != row.heads) latest_ = last_.try_emplace(row.heads, nullptr).first;
  const ClassRow *&last = latest_->second;
  size_t bytes = 2 + (row.atoms.size() + row.texts.size() + 7) / 8;
  for (size_t i = 0; i < row.atoms.size(); ++i) {
    if (last == nullptr || last->atoms[i] != row.atoms[i]) bytes += varint_bytes(atom_code(row.atoms[i]));
  }
  for (size_t i = 0; i < row.texts.size(); ++i) {
    if (last == nullptr || last->texts[i] != row.texts[i]) bytes += 2 + row.texts[i].size();
  }
  last = &row;
  return bytes;
}

size_t values_bytes(const std::vector<RowPointer> &values) {
  if (std::all_of(values.begin(), values.end(), [](const RowPointer &row) { return is_one_atom(*row); })) {
    FoldColumn column;
    for (const RowPointer &row : values) column.append(row->atoms[0]);
    ByteWriter out;
    column.write(out);
    return out.size();
  }
  RowBytes bytes;
  size_t sum = 0;
  for (const RowPointer &row : values) sum += bytes.add(*row);
  return sum;
}

Bytes order_bytes(const grammar::Grammar &order) {
  ByteWriter out;
  order.write(out);
  return out.take();
}

}  // namespace cairn::trace
