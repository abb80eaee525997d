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

void StatsBlock::remap(const SlotRows &rows_of_old, size_t new_rows) {
  if (new_rows == rows_of_old.size() && rows_of_old.is_identity()) return;
  if (rows.empty()) {
    rows = rows_of_old;
    return;
  }
  SlotRows remapped;
  remapped.reserve(rows.size());
  std::vector<uint32_t> became;
  for (size_t slot = 0; slot < rows.size(); ++slot) {
    became.clear();
    for (const uint32_t row : rows[slot]) {
      const std::span<const uint32_t> now = rows_of_old[row];
      became.insert(became.end(), now.begin(), now.end());
    }
    std::sort(became.begin(), became.end());
    became.erase(std::unique(became.begin(), became.end()), became.end());
    remapped.add(became);
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
  std::stable_sort(by_rows.begin(), by_rows.end(),
                   [this](uint32_t a, uint32_t b) { return std::ranges::lexicographical_compare(rows[a], rows[b]); });
  std::vector<timing::RankStats> joined;
  SlotRows where;
  for (size_t first = 0; first < by_rows.size();) {
    size_t end = first + 1;
    while (end < by_rows.size() && rows.same(by_rows[end], by_rows[first])) ++end;
    timing::RankStats &slot = slots[by_rows[first]];
    if (end - first > 1) {  // added up as numbers: there may be a slot for each call
      timing::CallStats calls;
      for (size_t i = first; i < end; ++i) slots[by_rows[i]].add_to(&calls);
      slot = timing::RankStats(calls, slot.numbers().greatest_rank);
    }
    joined.push_back(std::move(slot));
    where.add(rows[by_rows[first]]);
    first = end;
  }
  slots = std::move(joined);
  rows = std::move(where);
  // The last rows may have no slot: calls that were left out wherever they might have been made.
  if (slots.size() == rows_of_class && rows.is_identity()) rows.clear();
}

}  // namespace cairn::trace
