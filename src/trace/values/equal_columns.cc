#include "trace/values/equal_columns.h"

#include <algorithm>

#include "base/as_size.h"
#include "trace/values/atom_code.h"
#include "trace/values/column_head.h"

namespace cairn::trace {
namespace {

uint64_t above(Atom least, Atom value) { return static_cast<uint64_t>(value) - static_cast<uint64_t>(least); }

}  // namespace

void EqualColumns::write_head(const Head &head, ByteWriter &out) {
  out.varint(kEqualColumns);
  out.varint(head.columns);
  out.varint(head.count);
  out.byte(static_cast<uint8_t>(head.width));
  out.signed_varint(head.least);
}

EqualColumns::Head EqualColumns::parse_head(ByteReader &in) {
  Head head;
  head.columns = in.varint();
  head.count = in.count();
  head.width = in.byte();
  head.least = in.signed_varint();
  return head;
}

std::optional<Bytes> EqualColumns::alone(const std::vector<Atom> &values) {
  if (std::any_of(values.begin(), values.end(), is_special)) return std::nullopt;
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  const Head head = {1, values.size(), static_cast<int>(bytes_between(*least, *greatest)), *least};
  if (head.width == 0 || head.width == sizeof(Atom)) return std::nullopt;
  ByteWriter out;
  write_head(head, out);
  for (const Atom value : values) out.fixed(above(*least, value), head.width);
  return out.take();
}

bool EqualColumns::add(ByteView written) {
  ByteReader in(written);
  if (in.varint() != kEqualColumns) return false;
  const Head head = parse_head(in);
  if (in.failed() || (!columns_.empty() && (head.count != head_.count || head.width != head_.width))) return false;
  const ByteView values = in.raw(in.remaining());
  ByteReader each(values);
  uint64_t most = 0;
  for (uint64_t i = 0; i < head.count; ++i) most = std::max(most, each.fixed(head.width));
  const auto top = static_cast<Atom>(static_cast<uint64_t>(head.least) + most);
  const Atom least = columns_.empty() ? head.least : std::min(head_.least, head.least);
  const Atom greatest = columns_.empty() ? top : std::max(greatest_, top);
  if (static_cast<int>(bytes_between(least, greatest)) > head.width) return false;
  columns_.push_back({head.least, values});
  head_ = {columns_.size(), head.count, head.width, least};
  greatest_ = greatest;
  return true;
}

void EqualColumns::write(ByteWriter &out) const {
  write_head(head_, out);
  for (const Column &column : columns_) {
    ByteReader in(column.values);
    for (uint64_t i = 0; i < head_.count; ++i) {
      out.fixed(above(head_.least, column.least) + in.fixed(head_.width), head_.width);
    }
  }
}

std::vector<FoldColumn> EqualColumns::parse(ByteReader &in, uint64_t most, uint64_t limit) {
  const Head head = parse_head(in);
  const bool sound = head.columns != 0 && head.columns <= most && head.count != 0 && head.count <= limit &&
                     head.width > 0 && static_cast<size_t>(head.width) < sizeof head.least &&
                     head.columns <= in.remaining() / static_cast<size_t>(head.width) / head.count;
  if (in.failed() || !sound) {
    in.fail();
    return {};
  }
  constexpr uint64_t kColumn = 4 * sizeof(FoldColumn);  // with what irregular ones keep apart
  if (!in.take(head.columns, kColumn) || !in.take(head.columns * head.count, 6) || !in.take(head.count, sizeof(Atom))) {
    return {};
  }
  std::vector<FoldColumn> columns;
  std::vector<Atom> values(as_size(head.count));
  for (uint64_t i = 0; i < head.columns; ++i) {
    for (Atom &value : values) {
      value = static_cast<Atom>(static_cast<uint64_t>(head.least) + in.fixed(head.width));
    }
    if (std::any_of(values.begin(), values.end(), is_special)) in.fail();
    if (in.failed()) return {};
    columns.push_back(FoldColumn::irregular_of(values));
  }
  return columns;
}

}  // namespace cairn::trace
