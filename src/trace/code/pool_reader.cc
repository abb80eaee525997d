#include "trace/code/pool_reader.h"

#include <algorithm>
#include <utility>

#include "base/as_size.h"
#include "trace/values/bounds.h"
#include "trace/values/column_head.h"
#include "trace/values/equal_columns.h"
#include "trace/values/run_columns.h"

namespace cairn::trace {

bool PoolReader::bad(std::string what) {
  what_ = std::move(what);
  return false;
}

namespace {

constexpr uint64_t kColumn = sizeof(FoldColumn) + sizeof(ColumnPointer) + 64;  // with what lies around it

}  // namespace

bool PoolReader::mirrored_column(ByteReader &in) {
  const uint64_t n = in.varint();
  const uint64_t back = in.varint();
  const uint64_t place = in.varint();
  const uint64_t number = pool_.columns.size();
  if (in.failed() || n == 0 || n > back || place >= n || back > number || place > number - back) return false;
  const uint64_t first = number - back - place;
  // A few bytes each, and n values.
  mirrored_values_ += n;
  if (mirrored_values_ > most_after(in.position()) || !in.take(kColumn + 6 * n)) return false;
  for (uint64_t r = 0; r < n; ++r) {
    if (pool_.columns[as_size(first + r)]->size() != n) return false;
  }
  if (place == 0) {
    if (!in.take(n, sizeof(FoldColumn::Cursor) + kColumn)) return false;
    across_ = {first, 0, {}};
    for (uint64_t r = 0; r < n; ++r) across_.cursors.emplace_back(*pool_.columns[as_size(first + r)]);
  }
  const bool in_turn = across_.first == first && across_.place == place && across_.cursors.size() == n;
  FoldColumn column;
  for (uint64_t r = 0; r < n; ++r) {
    column.append(in_turn ? across_.cursors[as_size(r)].next() : pool_.columns[as_size(first + r)]->at(place));
  }
  if (in_turn) ++across_.place;
  pool_.columns.push_back(std::make_shared<const FoldColumn>(std::move(column)));
  return true;
}

bool PoolReader::read(ByteReader &in) {
  const size_t value_count = in.count();
  if (!in.take(value_count, sizeof(Bytes))) return false;
  pool_.values.resize(value_count);
  for (Bytes &value : pool_.values) {
    const ByteView bytes = in.blob();
    if (!bytes.empty() && !in.take(bytes.size() + 32)) return false;
    value.assign(bytes.begin(), bytes.end());
  }
  const size_t folds = in.count(2);
  if (!in.take(folds, kColumn)) return false;
  while (pool_.columns.size() < folds && !in.failed()) {
    ByteReader ahead = in;
    const uint64_t head = ahead.varint();
    if (head == kRanksPlus) {
      in = ahead;
      // A column of its own, empty until somebody's ranks are known.
      pool_.columns.push_back(std::make_shared<const FoldColumn>());
      const Atom distance = in.signed_varint();
      if (!in.take(64)) return false;  // of the map
      constexpr Atom kFarthest = Atom{1} << 40;
      if (distance > kFarthest || distance < -kFarthest) return bad("has a column too far from the ranks");
      pool_.distances.emplace(pool_.columns.back().get(), distance);
      continue;
    }
    if (head == kMirrored) {
      in = ahead;
      if (!mirrored_column(in)) return bad("has a column that others cannot tell");
      continue;
    }
    if (head == kEqualColumns || head == kRunColumns) {
      in = ahead;
      const uint64_t most = folds - pool_.columns.size();
      std::vector<FoldColumn> several =
          head == kEqualColumns ? EqualColumns::parse(in, most) : RunColumns::parse(in, most, &values_in_runs_);
      if (in.failed() || several.empty()) return bad("has several columns that end early");
      for (FoldColumn &column : several) {
        pool_.columns.push_back(std::make_shared<const FoldColumn>(std::move(column)));
      }
      continue;
    }
    pool_.columns.push_back(std::make_shared<const FoldColumn>(FoldColumn::parse(in, FoldColumn::Domain::atoms)));
  }
  const size_t tables = in.count(3);
  for (size_t i = 0; i < tables && !in.failed(); ++i) {
    std::vector<Bytes> values;
    const size_t count = in.count();
    uint64_t size = 0;
    if (!in.take(sizeof(ValuesColumn) + 64) || !in.take(count, 2 * sizeof(Bytes) + sizeof(std::string_view)))
      return false;
    for (size_t v = 0; v < count && !in.failed(); ++v) {
      const uint64_t number = in.varint();
      if (number >= pool_.values.size()) return bad("refers to a value that does not exist");
      size += pool_.values[as_size(number)].size();
      if (!in.take(pool_.values[as_size(number)].size() + 32)) return false;
      // Distinct values: a table is never larger than all of them.
      if (size > values_bytes()) return bad("has a table with a value twice");
      values.push_back(pool_.values[as_size(number)]);
    }
    FoldColumn index = FoldColumn::parse(in, FoldColumn::Domain::symbols);
    auto table = std::make_shared<ValuesColumn>();
    if (in.failed()) return false;
    if (!ValuesColumn::of(std::move(values), std::move(index), table.get())) return bad("has a malformed table");
    for (const Bytes &value : table->values()) {
      ByteReader field(value);
      unpack_field(field);
      if (field.failed() || !field.at_end()) return bad("has a malformed value");
    }
    // Tables of large values that many tables repeat could multiply.
    table_bytes_ += size;
    if (table_bytes_ > most_after(in.position())) return bad("has too large tables");
    pool_.tables.push_back(std::move(table));
  }
  return true;
}

uint64_t PoolReader::values_bytes() {
  if (values_bytes_ == 0) {
    for (const Bytes &value : pool_.values) values_bytes_ += value.size();
  }
  return values_bytes_;
}

RowPointer PoolReader::with_ranks(RowPointer row, const RankSet &ranks, ByteReader *in) {
  const auto is_relative = [&](const VariedAtom &varied) { return pool_.distances.contains(varied.column.get()); };
  if (std::none_of(row->varied.begin(), row->varied.end(), is_relative)) return row;
  if (ranks.size() > RankColumns::kMostRanks || !in->take(row->bytes())) return nullptr;
  auto own = std::make_shared<ClassRow>(*row);
  own->varied.clear();
  for (const VariedAtom &varied : row->varied) {
    const auto found = pool_.distances.find(varied.column.get());
    if (found == pool_.distances.end()) {
      own->varied.push_back(varied);
    } else if (ranks.size() == 1) {
      own->atoms[varied.slot] = static_cast<Atom>(ranks.front()) + found->second;
    } else {
      own->varied.push_back({varied.slot, ranks_plus(ranks, found->second, in)});
    }
  }
  return own;
}

ColumnPointer PoolReader::ranks_plus(const RankSet &ranks, Atom distance, ByteReader *in) {
  ColumnPointer &column = of_ranks_[distance];
  if (column == nullptr) {
    in->take(kColumn + 2 * ranks.column().bytes());
    FoldColumn made;
    FoldColumn::Cursor cursor(ranks.column());
    for (uint64_t i = 0; i < ranks.size(); ++i) made.append(cursor.next() + distance);
    column = std::make_shared<const FoldColumn>(std::move(made));
  }
  return column;
}

}  // namespace cairn::trace
