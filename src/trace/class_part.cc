#include "trace/class_part.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace cairn::trace {

RowGroups::RowGroups(const std::vector<RowPointer> &rows) {
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, size_t, uint32_t>, uint32_t> known;
  of_row.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const ClassRow &row = *rows[i];
    const auto [entry, added] =
        known.emplace(std::tuple(row.function, row.site, row.depth, row.heads.size(), row.cycle), count());
    if (added) first_row.push_back(static_cast<uint32_t>(i));
    of_row.push_back(entry->second);
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

uint64_t StatsBlock::calls_of(size_t slot, const std::vector<uint64_t> &calls) const {
  uint64_t sum = 0;
  if (rows.empty()) {
    sum = calls[slot];
  } else {
    for (const uint32_t row : rows[slot]) sum += calls[row];
  }
  return sum * ranks.size();
}

void StatsBlock::join_slots() {
  if (rows.empty()) return;
  std::map<std::vector<uint32_t>, RankStats> joined;
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    const auto [entry, added] = joined.emplace(rows[slot], slots[slot]);
    if (!added) entry->second.add_calls(slots[slot]);
  }
  slots.clear();
  rows.clear();
  bool identity = true;
  for (const auto &[where, stats] : joined) {
    identity = identity && where.size() == 1 && where[0] == slots.size();
    slots.push_back(stats);
    rows.push_back(where);
  }
  if (identity) rows.clear();
}

}  // namespace cairn::trace
