#include "trace/model/slot_rows.h"

namespace cairn::trace {

SlotRows SlotRows::of(const std::vector<std::vector<uint32_t>> &lists) {
  SlotRows rows;
  rows.reserve(lists.size());
  for (const std::vector<uint32_t> &list : lists) rows.add(list);
  return rows;
}

bool SlotRows::is_identity() const {
  if (rows_.size() != ends_.size()) return false;
  for (size_t slot = 0; slot < ends_.size(); ++slot) {
    if (ends_[slot] != slot + 1 || rows_[slot] != slot) return false;
  }
  return true;
}

void SlotRows::write(ByteWriter &out) const {
  for (size_t slot = 0; slot < size(); ++slot) {
    const std::span<const uint32_t> rows = (*this)[slot];
    out.varint(rows.size());
    uint32_t next = 0;
    for (const uint32_t row : rows) {
      out.varint(row - next);
      next = row + 1;
    }
  }
}

bool SlotRows::read(ByteReader &in, size_t rows) {
  const size_t count = in.count();
  if (!in.take(2 * count, sizeof(uint32_t))) return false;  // as a vector grows
  uint64_t next = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t skipped = in.varint();
    if (skipped >= rows || next + skipped >= rows) return false;
    rows_.push_back(static_cast<uint32_t>(next + skipped));
    next += skipped + 1;
  }
  ends_.push_back(rows_.size());
  return true;
}

}  // namespace cairn::trace
