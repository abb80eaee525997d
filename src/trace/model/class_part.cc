#include "trace/model/class_part.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

namespace cairn::trace {

namespace {

std::tuple<uint32_t, uint32_t, uint32_t, size_t, RowKind> group_key(const ClassRow &row) {
  return {row.function, row.site, row.depth, row.heads.size(), row.kind};
}

}  // namespace

RowGroups::RowGroups(const std::vector<RowPointer> &rows) {
  // Made for each class that is opened or merged: one table, and no node for each group.
  constexpr uint32_t kFree = UINT32_MAX;
  const size_t mask = std::bit_ceil(2 * rows.size() + 1) - 1;
  std::vector<uint32_t> table(mask + 1, kFree);
  of_row.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const ClassRow &row = *rows[i];
    uint64_t hash = row.function;
    for (const uint64_t part :
         {uint64_t{row.site}, uint64_t{row.depth}, uint64_t{row.heads.size()}, uint64_t{number_of(row.kind)}})
      hash = (hash ^ part) * 0x9E3779B97F4A7C15ULL;
    size_t slot = (hash ^ hash >> 32) & mask;
    while (table[slot] != kFree && group_key(*rows[first_row[table[slot]]]) != group_key(row)) slot = (slot + 1) & mask;
    if (table[slot] == kFree) {
      table[slot] = count();
      first_row.push_back(static_cast<uint32_t>(i));
    }
    of_row.push_back(table[slot]);
  }
}

bool stands_before(const ClassHead &a, const ClassHead &b) {
  return std::tuple(a.ranks.front(), a.thread, a.segment) < std::tuple(b.ranks.front(), b.thread, b.segment);
}

void StreamVariant::set_key() {
  ByteWriter out;
  const Hash128 sequence = order->sequence_hash();
  out.fixed64(sequence.low);
  out.fixed64(sequence.high);
  out.varint(values.size() << 1 | (differences ? 1U : 0U));
  key = hash128(out.view());
}

void StatsBlock::remap(const std::vector<std::vector<uint32_t>> &rows_of_old, size_t new_rows) {
  bool identity = new_rows == rows_of_old.size();
  for (size_t i = 0; identity && i < rows_of_old.size(); ++i) {
    identity = rows_of_old[i].size() == 1 && rows_of_old[i][0] == i;
  }
  if (identity) return;
  std::vector<std::vector<uint32_t>> remapped(slots.size());
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    if (rows.empty()) {
      remapped[slot] = rows_of_old[slot];
      continue;
    }
    for (const uint32_t row : rows[slot]) {
      remapped[slot].insert(remapped[slot].end(), rows_of_old[row].begin(), rows_of_old[row].end());
    }
    std::sort(remapped[slot].begin(), remapped[slot].end());
    remapped[slot].erase(std::unique(remapped[slot].begin(), remapped[slot].end()), remapped[slot].end());
  }
  rows = std::move(remapped);
}

size_t value_count(std::span<const Stream> streams) {
  size_t count = 0;
  for (const Stream &stream : streams) {
    for (const StreamVariant &variant : stream.variants) count += variant.values.size();
  }
  return count;
}

void write_rows_of_slot(const std::vector<uint32_t> &slot, ByteWriter &out) {
  out.varint(slot.size());
  uint32_t next = 0;
  for (const uint32_t row : slot) {
    out.varint(row - next);
    next = row + 1;
  }
}

bool read_rows_of_slot(ByteReader &in, size_t rows, std::vector<uint32_t> *slot) {
  const size_t count = in.count();
  if (!in.take(count, sizeof(uint32_t))) return false;
  slot->resize(count);
  uint64_t next = 0;
  for (uint32_t &row : *slot) {
    const uint64_t skipped = in.varint();
    if (skipped >= rows || next + skipped >= rows) return false;
    row = static_cast<uint32_t>(next + skipped);
    next = uint64_t{row} + 1;
  }
  return true;
}

uint64_t StatsBlock::calls_of(size_t slot, const std::vector<uint64_t> &calls) const {
  uint64_t sum = 0;
  if (rows.empty()) {
    sum = calls[slot];
  } else {
    for (const uint32_t row : rows[slot]) sum += calls[row];
  }
  return sum * ranks.size();
}

void StatsBlock::join_slots(size_t rows_of_class) {
  if (rows.empty()) return;
  std::vector<uint32_t> by_rows(slots.size());
  std::iota(by_rows.begin(), by_rows.end(), 0);
  std::stable_sort(by_rows.begin(), by_rows.end(), [this](uint32_t a, uint32_t b) { return rows[a] < rows[b]; });
  std::vector<timing::RankStats> joined;
  std::vector<std::vector<uint32_t>> where;
  bool identity = true;
  for (const uint32_t slot : by_rows) {
    if (!where.empty() && where.back() == rows[slot]) {
      joined.back().add_calls(slots[slot]);
      continue;
    }
    identity = identity && rows[slot].size() == 1 && rows[slot][0] == joined.size();
    joined.push_back(std::move(slots[slot]));
    where.push_back(std::move(rows[slot]));
  }
  slots = std::move(joined);
  rows = std::move(where);
  // The last rows may have no slot: calls that were left out wherever they might have been made.
  if (identity && slots.size() == rows_of_class) rows.clear();
}

}  // namespace cairn::trace
