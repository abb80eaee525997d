#include "trace/code/row_code.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/as_size.h"
#include "trace/code/site_atoms.h"
#include "trace/values/atom_code.h"
#include "trace/values/column_head.h"
#include "trace/values/equal_columns.h"
#include "trace/values/run_columns.h"

namespace cairn::trace {

uint32_t site_in_trace(uint32_t site, const std::vector<uint32_t> &sites) {
  return site == 0 ? 0 : sites[site - 1] + 1;
}

SitesOfClass::SitesOfClass(const std::vector<uint32_t> &sites) {
  numbers_.emplace(0, 0);
  for (uint32_t i = 0; i < sites.size(); ++i) numbers_.emplace(sites[i] + 1, i + 1);
}

std::optional<uint32_t> SitesOfClass::number(uint32_t site_in_trace) const {
  const auto found = numbers_.find(site_in_trace);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

const std::vector<uint64_t> *LastCodes::find(uint32_t site) const {
  if (!any_) return nullptr;
  const auto found = by_site_.find(site);
  return &by_site_.at(found == by_site_.end() ? last_site_ : site);
}

void LastCodes::put(uint32_t site, const std::vector<uint64_t> &codes) {
  by_site_[site] = codes;  // mostly as many as before: no allocation
  last_site_ = site;
  any_ = true;
}

Numbers::Slot &Numbers::slot_of(const Hash128 &hash) {
  size_t place = hash.low & (slots_.size() - 1);
  while (slots_[place].number != kFree && slots_[place].hash != hash) place = (place + 1) & (slots_.size() - 1);
  return slots_[place];
}

uint32_t Numbers::number(ByteView bytes) {
  constexpr size_t kFirst = 16;
  if (2 * size_t{size_} >= slots_.size()) {
    const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(std::max(kFirst, 2 * slots_.size())));
    for (const Slot &slot : before) {
      if (slot.number != kFree) slot_of(slot.hash) = slot;
    }
  }
  Slot &slot = slot_of(hash128(bytes));
  if (slot.number == kFree) slot = {hash128(bytes), size_++};
  return slot.number;
}

uint32_t Interned::number(ByteView bytes) {
  const uint32_t before = size();
  const uint32_t number = numbers_.number(bytes);
  if (number == before) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    ends_.push_back(bytes_.size());
  }
  return number;
}

ByteView Interned::at(uint32_t number) const {
  if (const auto other = rewritten_.find(number); other != rewritten_.end()) return other->second;
  const size_t begin = number == 0 ? 0 : ends_[number - 1];
  return ByteView(bytes_).subspan(begin, ends_[number] - begin);
}

uint32_t PoolWriter::column(const FoldColumn &fold) {
  scratch_.clear();
  fold.write_smallest(scratch_);
  return columns_.number(scratch_.view());
}

uint32_t PoolWriter::column(const ColumnPointer &fold) {
  if (fold.use_count() == 1) return column(*fold);  // nobody else will ask
  const auto [entry, added] = known_.try_emplace(fold.get(), 0);
  if (added) entry->second = column(*fold);
  return entry->second;
}

uint32_t PoolWriter::ranks_plus(Atom distance) {
  ByteWriter out;
  out.varint(kRanksPlus);
  out.signed_varint(distance);
  return columns_.number(out.view());
}

namespace {

/// Whether the k-th of one side's columns has at r what the r-th of the other side's has at k.
bool mirror_each_other(const std::vector<ColumnPointer> &one, std::span<const VariedAtom> other) {
  const size_t n = one.size();
  for (size_t r = 0; r < n; ++r) {
    if (other[0].column->at(r) != one[r]->at(0)) return false;
  }
  std::vector<FoldColumn::Cursor> across;
  across.reserve(n);
  for (const ColumnPointer &column : one) across.emplace_back(*column);
  for (const VariedAtom &varied : other) {
    FoldColumn::Cursor along(*varied.column);
    for (FoldColumn::Cursor &cursor : across) {
      if (cursor.next() != along.next()) return false;
    }
  }
  return true;
}

}  // namespace

void PoolWriter::exchanged(uint32_t first, std::span<const VariedAtom> columns) {
  constexpr size_t kMostSquares = 1024;
  constexpr uint64_t kBytesOfMirrored = 12;
  const size_t n = columns.size();
  if (squares_.size() == kMostSquares) return;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < n; ++i) {
    if (columns[i].column->size() != n) return;
    bytes += columns_.at(first + i).size();
  }
  if (bytes < n * kBytesOfMirrored) return;
  for (const Square &square : squares_) {
    if (first < square.first + square.columns.size() && square.first < first + n) return;
  }
  // What few bytes stand for so much that a reader would take them for hostile is left as it is.
  Square own{first, 1000 * bytes, {}};
  for (Square &square : squares_) {
    if (square.columns.size() != n || square.room < n * n || square.first + n > first) continue;
    if (!mirror_each_other(square.columns, columns)) continue;
    square.room -= n * n;
    own.room = 0;
    for (uint32_t place = 0; place < n; ++place) {
      ByteWriter out;
      for (const uint64_t word : {uint64_t{kMirrored}, uint64_t{n}, uint64_t{first - square.first}, uint64_t{place}}) {
        out.varint(word);
      }
      columns_.rewrite(first + place, out.take());
    }
    break;
  }
  for (const VariedAtom &varied : columns) own.columns.push_back(varied.column);
  squares_.push_back(std::move(own));
}

uint32_t PoolWriter::table(const ValuesColumn &values) {
  ByteWriter out;
  out.varint(values.values().size());
  for (const Bytes &value : values.values()) out.varint(values_.number(value));
  values.index().write(out);
  return tables_.number(out.view());
}

uint32_t PoolWriter::write_column(uint32_t i, uint32_t end, ByteWriter &out) const {
  EqualColumns several;
  uint32_t next = i;
  while (next < end && several.add(columns_.at(next))) ++next;
  if (several.size() > 1) {
    several.write(out);
    return next;
  }
  out.raw(columns_.at(i));
  return i + 1;
}

void PoolWriter::write(ByteWriter &out) const {
  out.varint(values_.size());
  for (uint32_t i = 0; i < values_.size(); ++i) out.blob(values_.at(i));
  out.varint(columns_.size());
  for (uint32_t i = 0; i < columns_.size();) {
    RunColumns together;
    uint32_t end = i;
    while (end < columns_.size() && together.add(columns_.at(end))) ++end;
    if (together.size() < 2) {
      i = write_column(i, columns_.size(), out);
      continue;
    }
    ByteWriter alone;
    while (i < end) i = write_column(i, end, alone);
    const Bytes told = together.written();
    out.raw(told.empty() || told.size() >= alone.size() ? alone.view() : ByteView(told));
  }
  out.varint(tables_.size());
  for (uint32_t i = 0; i < tables_.size(); ++i) out.raw(tables_.at(i));
}

RankColumns::RankColumns(const RankSet &ranks) {
  if (ranks.size() <= kMostRanks) ranks_ = ranks.expand();
}

std::optional<std::pair<uint32_t, uint32_t>> RankColumns::run() const {
  if (ranks_.empty() || ranks_.back() - ranks_.front() + 1 != ranks_.size()) return std::nullopt;
  return std::pair(ranks_.front(), static_cast<uint32_t>(ranks_.size()));
}

std::optional<Atom> RankColumns::distance(const ColumnPointer &column) {
  if (ranks_.empty() || column->irregular()) return std::nullopt;
  const auto [entry, fresh] = known_.try_emplace(column.get());
  if (!fresh) return entry->second;
  FoldColumn::Cursor cursor(*column);
  std::optional<Atom> distance;
  for (const uint32_t rank : ranks_) {
    const Atom value = cursor.next();
    if (is_special(value) || value > INT32_MAX || value < INT32_MIN) return std::nullopt;
    if (distance && value - rank != *distance) return std::nullopt;
    distance = value - rank;
  }
  entry->second = distance;
  return distance;
}

std::optional<Atom> RankColumns::distance(Atom atom) const {
  if (ranks_.size() != 1 || is_special(atom) || atom > INT32_MAX || atom < INT32_MIN) return std::nullopt;
  return atom - ranks_[0];
}

std::optional<uint32_t> RowWriter::as_before(Atom atom, const std::tuple<uint32_t, uint32_t, uint32_t> &place,
                                             RankColumns *ranks) {
  const std::optional<Atom> distance = ranks == nullptr ? std::nullopt : ranks->distance(atom);
  if (!distance) return std::nullopt;
  const auto last = distances_.find(place);
  if (last == distances_.end() || last->second != *distance) return std::nullopt;
  return pool_.ranks_plus(*distance);
}

Bytes RowWriter::Coded::identity(uint32_t site_in_all) const {
  ByteWriter out;
  out.varint(shape);
  out.varint(site_in_all);
  for (const uint64_t code : codes) out.varint(code);
  return out.take();
}

// An array whose elements are runs or progressions is a column along itself.
std::optional<uint32_t> RowWriter::as_array(const ClassRow &row, uint32_t slot, uint32_t count, size_t varied) {
  constexpr uint32_t kShortest = 4;
  constexpr uint32_t kLongest = kFreely;
  if (count < kShortest || count > kLongest) return std::nullopt;
  if (varied < row.varied.size() && row.varied[varied].slot < slot + count) return std::nullopt;
  FoldColumn column;
  ByteWriter plain;
  for (uint32_t i = 0; i < count; ++i) {
    column.append(row.atoms[slot + i]);
    plain.varint(atom_code(row.atoms[slot + i]));
  }
  ByteWriter folded;
  column.write(folded);
  if (folded.size() + 2 >= plain.size()) return std::nullopt;
  return pool_.column(column);
}

// An array whose elements all differ along the ranks, with columns that follow each other, as they do the first time.
std::optional<uint32_t> RowWriter::as_successive(const ClassRow &row, uint32_t slot, uint32_t count, size_t varied,
                                                 const RankColumns *ranks) {
  constexpr uint32_t kShortest = 3;
  if (count < kShortest || varied + count > row.varied.size() || row.varied[varied].slot != slot ||
      row.varied[varied + count - 1].slot != slot + count - 1) {
    return std::nullopt;
  }
  const uint32_t first = pool_.column(row.varied[varied].column);
  for (uint32_t i = 1; i < count; ++i) {
    if (pool_.column(row.varied[varied + i].column) != first + i) return std::nullopt;
  }
  // What is said to the ranks of the class itself, if the array has a place for each rank of the communicator.
  const std::span columns = std::span(row.varied).subspan(varied, count);
  const auto members = ranks == nullptr ? std::nullopt : ranks->run();
  if (members && members->first + members->second <= count) {
    pool_.exchanged(first + members->first, columns.subspan(members->first, members->second));
  } else {
    pool_.exchanged(first, columns);
  }
  return first;
}

namespace {

void set_bit(Bytes *mask, uint64_t i) {
  uint8_t &bits = (*mask)[as_size(i / 8)];
  bits = static_cast<uint8_t>(bits | 1U << (i % 8));
}

}  // namespace

std::optional<Atom> RowWriter::moving_told(const ClassRow &row, uint32_t field, uint32_t atom, uint32_t slot) const {
  if (moving_ == nullptr) return std::nullopt;
  if (!moving_->moves({row.function, static_cast<uint32_t>(row.heads.size()), field, atom})) return std::nullopt;
  return SiteAtoms::told(row.atoms[slot], row.site);
}

void RowWriter::code_atoms(const ClassRow &row, uint32_t field, uint32_t slot, size_t varied, RankColumns *ranks,
                           uint32_t site, bool arrays, Coded *coded) {
  std::vector<uint64_t> *const codes = &coded->codes;
  field_.form = FieldShape::atoms;
  field_.count = row.heads[field].count;
  if (const std::optional<uint32_t> array = arrays ? as_array(row, slot, field_.count, varied) : std::nullopt) {
    coded->array_atoms += field_.count;
    field_.form = FieldShape::array;
    field_.count = 0;
    codes->push_back(*array);
    field_.write(shape_);
    return;
  }
  if (const std::optional<uint32_t> first =
          arrays ? as_successive(row, slot, field_.count, varied, ranks) : std::nullopt) {
    coded->array_atoms += field_.count;
    field_.form = FieldShape::successive;
    codes->push_back(*first);
    field_.write(shape_);
    return;
  }
  const auto place = std::tuple(site, row.function, field);
  const bool alone = field_.count == 1;
  field_.columns.assign((field_.count + 7) / 8, 0);
  field_.moving.assign(field_.columns.size(), 0);
  const auto is_column = [&](uint32_t i) {
    if (field_.form == FieldShape::atoms) field_.form = FieldShape::varied;
    set_bit(&field_.columns, i);
  };
  for (uint32_t i = 0; i < field_.count; ++i, ++slot) {
    if (varied < row.varied.size() && row.varied[varied].slot == slot) {
      is_column(i);
      const ColumnPointer &column = row.varied[varied++].column;
      const std::optional<Atom> distance = ranks == nullptr ? std::nullopt : ranks->distance(column);
      if (distance && alone) distances_[place] = distance.value_or(0);
      codes->push_back(distance ? pool_.ranks_plus(distance.value_or(0)) : pool_.column(column));
    } else if (const auto before = alone ? as_before(row.atoms[slot], place, ranks) : std::nullopt) {
      is_column(i);
      codes->push_back(*before);
    } else if (const auto told = moving_told(row, field, i, slot)) {
      field_.form = FieldShape::beside;
      set_bit(&field_.moving, i);
      codes->push_back(atom_code(*told));
    } else {
      codes->push_back(atom_code(row.atoms[slot]));
    }
  }
  field_.write(shape_);
}

RowWriter::Coded RowWriter::code(const ClassRow &row, RankColumns *ranks, uint32_t site, size_t position) {
  Coded coded = code(row, ranks, site, true);
  return arrays_.allows(coded.array_atoms, position) ? coded : code(row, ranks, site, false);
}

void RowWriter::count(const Coded &row, size_t position) {
  [[maybe_unused]] const bool allowed = arrays_.add(row.array_atoms, position);
  assert(allowed);
}

// Function, depth and what the fields are; then one code for each atom, text or table.
RowWriter::Coded RowWriter::code(const ClassRow &row, RankColumns *ranks, uint32_t site, bool arrays) {
  Coded coded;
  coded.site = row.site;
  shape_.clear();
  shape_.varint(row.function);
  shape_.varint(row.depth);
  shape_.varint(row.heads.size());
  coded.codes.reserve(row.atoms.size() + row.texts.size() + row.tables.size());
  uint32_t slot = 0;
  size_t varied = 0;
  size_t text = 0;
  size_t table = 0;
  const auto shape = [this](FieldShape::Form form) {
    field_.form = form;
    field_.count = 0;
    field_.write(shape_);
  };
  for (const FieldHead &head : row.heads) {
    switch (head.kind) {
      case FieldHead::text:
        shape(FieldShape::text);
        coded.codes.push_back(pool_.value(row.texts[text++]));
        break;
      case FieldHead::table:
        shape(FieldShape::table);
        coded.codes.push_back(pool_.table(*row.tables[table++]));
        break;
      case FieldHead::moved:
        shape_of(&head == &row.heads.back() ? row.kind : SingleCall()).write(shape_);
        break;
      case FieldHead::atoms:
        code_atoms(row, static_cast<uint32_t>(&head - row.heads.data()), slot, varied, ranks, site, arrays, &coded);
        slot += head.count;
        while (varied < row.varied.size() && row.varied[varied].slot < slot) ++varied;
        break;
    }
  }
  coded.shape = shapes_.number(shape_.view());
  return coded;
}

// Against the last row of that shape at that site, or of that shape: one bit for each code, and the codes that differ.
void RowWriter::write(const Coded &row, uint32_t site, ByteWriter &out) {
  out.varint(row.shape);
  out.varint(row.site);
  if (row.shape >= last_.size()) last_.resize(row.shape + 1U);
  const std::vector<uint64_t> *base = last_[row.shape].find(site);
  if (base == nullptr) {
    for (const uint64_t code : row.codes) out.varint(code);
  } else {
    Bytes mask((row.codes.size() + 7) / 8);
    for (size_t i = 0; i < row.codes.size(); ++i) {
      if (row.codes[i] != (*base)[i]) set_bit(&mask, i);
    }
    out.raw(mask);
    for (size_t i = 0; i < row.codes.size(); ++i) {
      if (row.codes[i] != (*base)[i]) out.varint(row.codes[i]);
    }
  }
  last_[row.shape].put(site, row.codes);
}

bool RowWriter::Coded::follows(const Coded &before) const {
  return shape == before.shape && !codes.empty() && codes.back() == before.codes.back() + 1 &&
         std::equal(codes.begin(), codes.end() - 1, before.codes.begin());
}

void RowWriter::write_following(const Coded &last, size_t count, ByteWriter &out) {
  out.varint(last.shape);
  out.varint(count);  // in the place of a site, which values have none of
  last_[last.shape].put(0, last.codes);
}

void RowWriter::write_shapes(ByteWriter &out) const {
  out.varint(shapes_.size());
  for (uint32_t i = 0; i < shapes_.size(); ++i) out.raw(shapes_.at(i));
}

}  // namespace cairn::trace
