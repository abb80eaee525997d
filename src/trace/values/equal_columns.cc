#include "trace/values/equal_columns.h"

#include <algorithm>

#include "trace/values/atom_code.h"

namespace cairn::trace {
namespace {

uint64_t range_of(Atom from, Atom to) { return static_cast<uint64_t>(to) - static_cast<uint64_t>(from); }

}  // namespace

bool EqualColumns::add(ByteView written) {
  ByteReader in(written);
  const std::optional<FoldColumn::Equal> head = FoldColumn::parse_equal_head(in);
  if (!head) return false;
  const auto width = static_cast<int>(head->width);
  if (!columns_.empty() && (head->count != count_ || width != width_)) return false;
  const ByteView values = in.raw(in.remaining());
  ByteReader each(values);
  uint64_t most = 0;
  for (uint64_t i = 0; i < head->count; ++i) most = std::max(most, each.fixed(width));
  const auto top = static_cast<Atom>(static_cast<uint64_t>(head->least) + most);
  const Atom least = columns_.empty() ? head->least : std::min(least_, head->least);
  const Atom greatest = columns_.empty() ? top : std::max(greatest_, top);
  if (bytes_between(least, greatest) > head->width) return false;
  count_ = head->count;
  width_ = width;
  least_ = least;
  greatest_ = greatest;
  columns_.push_back({head->least, values});
  return true;
}

void EqualColumns::write(ByteWriter &out) const {
  out.varint(kSeveralEqual);
  out.varint(columns_.size());
  out.varint(count_);
  out.byte(static_cast<uint8_t>(width_));
  out.signed_varint(least_);
  for (const Column &column : columns_) {
    const uint64_t above = range_of(least_, column.least);
    ByteReader in(column.values);
    for (uint64_t i = 0; i < count_; ++i) out.fixed(above + in.fixed(width_), width_);
  }
}

std::vector<FoldColumn> EqualColumns::parse(ByteReader &in, uint64_t most) {
  std::vector<FoldColumn> columns;
  const uint64_t size = in.varint();
  FoldColumn::Equal head;
  head.count = in.count();
  head.width = in.byte();
  head.least = in.signed_varint();
  if (size > most || size > in.remaining()) in.fail();
  for (uint64_t i = 0; i < size && !in.failed(); ++i) columns.push_back(FoldColumn::parse_equal(in, head));
  return columns;
}

}  // namespace cairn::trace
